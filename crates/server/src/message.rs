//! Parses JSON values into MCP messages. The SDK's own parser silently drops messages that it does not understand; this one
//! answers every invalid request with an error that names the wrong field.

use annai_core::json::{MAX_JSON_VALUES, has_too_many_values};
use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, GetMeta,
    InitializedNotification, JsonRpcMessage, MetaObject, PingRequest, ProgressNotification, Request,
    RequestId, RequestMetaObject, RequestOptionalParam, RootsListChangedNotification,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::envelope::{Envelope, Json};
use crate::failure::RpcError;

/// Parses one message. `None` for a message that needs neither handling nor an answer, such as an unknown notification.
pub fn read(json: Json) -> Result<Option<ClientJsonRpcMessage>, RpcError> {
    let invalid = |id, problem: &str| Err(RpcError::new(id, ErrorCode::INVALID_REQUEST, problem));
    let message = match json {
        Json::Object(message) => message,
        Json::Batch => return invalid(None, "batches are not supported: send one message at a time"),
        Json::Other => return invalid(None, "expected a JSON-RPC 2.0 object without duplicate members"),
    };
    let id = match message.id.as_deref().map(value) {
        None => None,
        Some(Value::String(text)) if text.len() > MAX_ID_BYTES => {
            return invalid(None, &format!("id: expected at most {MAX_ID_BYTES} bytes"));
        }
        Some(Value::String(text)) => Some(RequestId::String(text.into())),
        Some(Value::Number(number)) if number.is_i64() => number.as_i64().map(RequestId::Number),
        // The client could not parse a message of this server; there is nothing to do about it.
        Some(Value::Null) if message.error.is_some() => return Ok(None),
        Some(_) => return invalid(None, "id: expected a string or an integer"),
    };
    if !message.is_rpc_2() {
        return invalid(id, "jsonrpc: expected \"2.0\"");
    }
    match (message.method.as_deref().map(value), id) {
        (Some(Value::String(method)), Some(id)) => {
            let request = request(&method, message.params.as_deref())
                .map_err(|(code, message)| RpcError::new(Some(id.clone()), code, message))?;
            Ok(Some(JsonRpcMessage::request(request, id)))
        }
        (Some(Value::String(method)), None) => Ok(notification(&method, message.params.as_deref())),
        (Some(_), id) => invalid(id, "method: expected a string"),
        (None, Some(id)) if message.is_reply() => Ok(reply(&message, &id)),
        (None, id) => invalid(id, "method is required"),
    }
}

/// Parses a member. It is known to be valid JSON, so this fails only when it is nested too deeply.
fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or(Value::Null)
}

/// Parses the client's reply to a request of this server; an invalid reply is ignored.
fn reply(message: &Envelope, id: &RequestId) -> Option<ClientJsonRpcMessage> {
    let whole = match (&message.result, &message.error) {
        (Some(result), _) => json!({ "jsonrpc": "2.0", "id": id, "result": value(result) }),
        (None, Some(error)) => json!({ "jsonrpc": "2.0", "id": id, "error": value(error) }),
        (None, None) => return None,
    };
    serde_json::from_value(whole).ok()
}

/// The code and message of an error, before the id is known.
type CodeAndMessage = (ErrorCode, String);

/// The maximum length of a string id. Real ids are counters or UUIDs; the limit exists because ids stay in memory while a
/// call runs, and longer after it is cancelled. A longer id is refused.
pub const MAX_ID_BYTES: usize = 1024;
/// The maximum number of characters of a client's own text that an error message repeats; the rest is cut off.
const MAX_ECHO_CHARS: usize = 200;

/// The methods that are known. Any other is answered with `METHOD_NOT_FOUND`.
const METHODS: [&str; 18] = [
    "ping",
    "initialize",
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "completion/complete",
    "logging/setLevel",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// Parses a request by its method, so that invalid parameters and an unknown method get different errors.
fn request(method: &str, params: Option<&RawValue>) -> Result<ClientRequest, CodeAndMessage> {
    use ClientRequest as Is;
    if !METHODS.contains(&method) {
        let shown: String = method.chars().take(MAX_ECHO_CHARS).collect();
        return Err((ErrorCode::METHOD_NOT_FOUND, format!("method not found: {shown}")));
    }
    if let Some(params) = params
        && has_too_many_values(params.get().as_bytes())
    {
        return Err(invalid_params(method, &format!("params: more than {MAX_JSON_VALUES} values")));
    }
    let params = params.map_or(Ok(None), |params| serde_json::from_str::<Option<Map<_, _>>>(params.get()));
    let mut params =
        params.map_err(|error| invalid_params(method, &format!("params: {error}")))?.unwrap_or_default();
    let meta = match params.remove("_meta") {
        None => Map::new(),
        Some(Value::Object(meta)) => meta,
        Some(_) => return Err(invalid_params(method, "params._meta: expected an object")),
    };
    let mut request = match method {
        "ping" => Is::PingRequest(PingRequest::default()),
        "initialize" => required(method, with_initialize_defaults(params)).map(Is::InitializeRequest)?,
        "server/discover" => required(method, params).map(Is::DiscoverRequest)?,
        "tools/list" => optional(method, params).map(Is::ListToolsRequest)?,
        "tools/call" => required(method, params).map(Is::CallToolRequest)?,
        "prompts/list" => optional(method, params).map(Is::ListPromptsRequest)?,
        "prompts/get" => required(method, params).map(Is::GetPromptRequest)?,
        "resources/list" => optional(method, params).map(Is::ListResourcesRequest)?,
        "resources/templates/list" => optional(method, params).map(Is::ListResourceTemplatesRequest)?,
        "resources/read" => required(method, params).map(Is::ReadResourceRequest)?,
        "resources/subscribe" => required(method, params).map(Is::SubscribeRequest)?,
        "resources/unsubscribe" => required(method, params).map(Is::UnsubscribeRequest)?,
        "subscriptions/listen" => required(method, params).map(Is::SubscriptionsListenRequest)?,
        "completion/complete" => required(method, params).map(Is::CompleteRequest)?,
        "logging/setLevel" => required(method, params).map(Is::SetLevelRequest)?,
        "tasks/get" => required(method, params).map(Is::GetTaskRequest)?,
        "tasks/update" => required(method, params).map(Is::UpdateTaskRequest)?,
        "tasks/cancel" => required(method, params).map(Is::CancelTaskRequest)?,
        _ => return Err((ErrorCode::METHOD_NOT_FOUND, format!("method not found: {method}"))),
    };
    if !meta.is_empty() {
        *request.get_meta_mut() = RequestMetaObject(MetaObject(meta));
    }
    Ok(request)
}

fn required<M: Default, P: DeserializeOwned>(
    method: &str,
    params: Map<String, Value>,
) -> Result<Request<M, P>, CodeAndMessage> {
    read_params(method, params).map(Request::new)
}

fn optional<M: Default, P: DeserializeOwned>(
    method: &str,
    params: Map<String, Value>,
) -> Result<RequestOptionalParam<M, P>, CodeAndMessage> {
    read_params(method, params).map(RequestOptionalParam::with_param)
}

fn read_params<P: DeserializeOwned>(method: &str, params: Map<String, Value>) -> Result<P, CodeAndMessage> {
    serde_path_to_error::deserialize(Value::Object(params)).map_err(|error| {
        let path = error.path().to_string();
        let at = if path == "." { String::new() } else { format!(".{path}") };
        invalid_params(method, &format!("params{at}: {}", error.inner()))
    })
}

fn invalid_params(method: &str, problem: &str) -> CodeAndMessage {
    let problem: String = problem.chars().take(MAX_ECHO_CHARS).collect();
    (ErrorCode::INVALID_PARAMS, format!("{method}: {problem}"))
}

/// Fills in what the SDK requires of `initialize` but older clients leave out: `clientInfo` and `capabilities`.
fn with_initialize_defaults(mut params: Map<String, Value>) -> Map<String, Value> {
    params.entry("capabilities").or_insert_with(|| json!({}));
    let mut client_info = params.remove("clientInfo").unwrap_or_default();
    if client_info.is_null() {
        client_info = json!({});
    }
    if let Value::Object(fields) = &mut client_info {
        fields.entry("name").or_insert_with(|| "unknown".into());
        fields.entry("version").or_insert_with(|| "0".into());
    }
    params.insert("clientInfo".to_owned(), client_info);
    params
}

/// Parses a notification. JSON-RPC allows no answer to it, so an invalid one is ignored.
fn notification(method: &str, params: Option<&RawValue>) -> Option<ClientJsonRpcMessage> {
    fn typed<N: DeserializeOwned + Into<ClientNotification>>(whole: Value) -> Option<ClientNotification> {
        serde_json::from_value::<N>(whole).ok().map(Into::into)
    }
    let whole = match params {
        Some(params) => json!({ "method": method, "params": value(params) }),
        None => json!({ "method": method }),
    };
    let notification = match method {
        "notifications/cancelled" => typed::<CancelledNotification>(whole),
        "notifications/progress" => typed::<ProgressNotification>(whole),
        "notifications/initialized" => typed::<InitializedNotification>(whole),
        "notifications/roots/list_changed" => typed::<RootsListChangedNotification>(whole),
        _ => None,
    };
    notification.map(JsonRpcMessage::notification)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &Value) -> Result<Option<ClientJsonRpcMessage>, RpcError> {
        super::read(crate::envelope::parse(value.to_string().as_bytes()).unwrap())
    }

    fn refused(value: &Value) -> (Option<RequestId>, i32, String) {
        let error = read(value).unwrap_err();
        (error.id, error.code.0, error.message)
    }

    fn id(number: i64) -> Option<RequestId> {
        Some(RequestId::Number(number))
    }

    #[test]
    fn messages_that_are_not_requests_are_invalid_requests() {
        for (value, id) in [
            (json!([]), None),
            (json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }]), None),
            (json!(7), None),
            (json!({}), None),
            (json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }), id(1)),
            (json!({ "id": 1, "method": "ping" }), id(1)),
            (json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" }), None),
            (json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }), None),
            (json!({ "jsonrpc": "2.0", "id": {}, "method": "ping" }), None),
            (json!({ "jsonrpc": "2.0", "id": u64::MAX, "method": "ping" }), None),
            (json!({ "jsonrpc": "2.0", "id": "x".repeat(MAX_ID_BYTES + 1), "method": "ping" }), None),
            (json!({ "jsonrpc": "2.0", "id": 1, "method": 5 }), id(1)),
            (json!({ "jsonrpc": "2.0", "id": 1 }), id(1)),
        ] {
            let (given, code, message) = refused(&value);
            assert_eq!((given, code), (id, -32600), "{value}: {message}");
        }
    }

    #[test]
    fn errors_about_parameters_name_the_field() {
        let of = |method: &str, params: Value| {
            refused(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
        };
        assert_eq!(
            of("tools/call", json!({})),
            (id(1), -32602, "tools/call: params: missing field `name`".into())
        );
        let (_, code, message) = of("tools/call", json!({ "name": "x", "arguments": "y" }));
        assert_eq!(code, -32602);
        assert!(message.starts_with("tools/call: params.arguments: invalid type"), "{message}");
        assert_eq!(of("tools/call", json!([])).1, -32602);
        assert_eq!(of("initialize", json!({})).1, -32602);
        assert_eq!(of("tools/list", json!({ "cursor": 5 })).1, -32602);
        assert_eq!(of("resources/read", json!({ "uri": 5 })).1, -32602);
    }

    #[test]
    fn an_unknown_method_is_reported_whatever_its_parameters() {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "no/such", "params": {} });
        assert_eq!(refused(&message), (id(1), -32601, "method not found: no/such".into()));
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "no/such", "params": [1] });
        assert_eq!(refused(&message).1, -32601);
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "m".repeat(100_000) });
        assert!(refused(&message).2.len() < 300);
    }

    #[test]
    fn parameters_with_too_many_values_are_refused() {
        let many = vec![0; MAX_JSON_VALUES + 1];
        let call = json!({ "name": "x", "arguments": { "a": many } });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        assert_eq!(refused(&message).1, -32602);
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        let deep: Value =
            serde_json::from_str(&format!("[{}]", vec![deep; MAX_JSON_VALUES / 100 + 1].join(","))).unwrap();
        let call = json!({ "name": "x", "arguments": { "a": deep } });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        assert_eq!(refused(&message).1, -32602);
        // Commas inside a string do not separate values.
        let call = json!({ "name": "x", "arguments": { "a": "\\\",".repeat(MAX_JSON_VALUES) } });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        assert!(read(&message).is_ok());
    }

    #[test]
    fn initialize_without_client_info_is_accepted() {
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-06-18" },
        });
        let Some(JsonRpcMessage::Request(request)) = read(&message).unwrap() else { panic!("no request") };
        let ClientRequest::InitializeRequest(request) = request.request else { panic!("not initialize") };
        assert_eq!(request.params.client_info.name, "unknown");
    }

    #[test]
    fn every_known_method_is_parsed() {
        for (method, params) in [
            ("ping", json!(null)),
            ("tools/list", json!(null)),
            ("tools/list", json!({})),
            ("tools/call", json!({ "name": "x" })),
            ("prompts/list", json!({})),
            ("prompts/get", json!({ "name": "x" })),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({ "uri": "a://b" })),
            ("resources/subscribe", json!({ "uri": "a://b" })),
            ("resources/unsubscribe", json!({ "uri": "a://b" })),
            ("logging/setLevel", json!({ "level": "info" })),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": "x" }, "argument": { "name": "a", "value": "" } }),
            ),
        ] {
            let message = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
            let Some(JsonRpcMessage::Request(request)) = read(&message).unwrap() else { panic!("{method}") };
            assert_eq!(request.request.method(), method);
            assert!(!matches!(request.request, ClientRequest::CustomRequest(_)), "{method}");
        }
    }

    #[test]
    fn notifications_never_get_an_answer() {
        for message in [
            json!({ "jsonrpc": "2.0", "method": "notifications/none" }),
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5 }),
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": 1, "message": "x" } }),
        ] {
            assert!(read(&message).unwrap().is_none());
        }
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } });
        assert!(matches!(read(&cancel).unwrap(), Some(JsonRpcMessage::Notification(_))));
    }
}
