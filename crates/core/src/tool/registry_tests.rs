use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::{
    Access, Call, Effect, ErrorKind, FailedCall, Guide, Person, Reply, Sponsor, Tool, Toolset, ToolsetState,
    World,
};

/// Opens only when the counter in its settings says so.
struct Set;

static OPENED: AtomicUsize = AtomicUsize::new(0);

impl Toolset for Set {
    const NAME: &'static str = "set";
    type Config = usize;

    async fn open(fails: &usize) -> Result<Self, ToolError> {
        if OPENED.fetch_add(1, Ordering::SeqCst) < *fails {
            return Err(ToolError::new(ErrorKind::NotConfigured, "set KEY first"));
        }
        Ok(Self)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    ms: u64,
    /// Call this tool too.
    then: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Output {
    slept: u64,
}

const READ: TokenScope = TokenScope::new("library.read");

struct Sleep;

impl Tool for Sleep {
    const FACTS: Facts = Facts {
        name: "sleep",
        title: "Sleep",
        description: "Waits.",
        effect: Effect::Write,
        world: World::Open,
        access: Access::Local(READ),
        sponsor: Sponsor::Never,
        widget: None,
        guide: Guide { when: "tired", safe_defaults: "{\"ms\":1}", common_errors: &[] },
    };
    type Set = Set;
    type Input = Input;
    type Output = Output;

    async fn run(_: &Set, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        assert!(call.deadline.is_some(), "every call has an end");
        tokio::time::sleep(Duration::from_millis(input.ms)).await;
        if let Some(name) = input.then {
            let registry = call.registry().ok_or_else(|| ToolError::internal("no registry"))?;
            let arguments = JsonObject::from_iter([("ms".to_owned(), 1.into())]);
            let admitted = registry.admit(&name, call.identity())?;
            Box::pin(admitted.call(arguments, Call::new("inner"))).await.map_err(|failed| failed.error)?;
        }
        Ok(Reply::new(Output { slept: input.ms }, "slept").with_meta("k", "v"))
    }
}

fn registry(fails: usize) -> Arc<Registry> {
    let mut builder = Registry::builder(Duration::from_millis(200));
    builder.toolset::<Set>(fails).tool::<Sleep>();
    builder.build().unwrap()
}

async fn call(registry: &Arc<Registry>, arguments: Value, call: Call) -> Result<Reply<Value>, FailedCall> {
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    registry.admit("sleep", &Identity::Owner).unwrap().call(arguments, call).await
}

fn local() -> Call {
    Call::new("1")
}

#[test]
fn two_tools_of_one_name_are_refused() {
    let mut builder = Registry::builder(Duration::from_secs(1));
    builder.toolset::<Set>(0).tool::<Sleep>();
    builder.toolset::<Set>(0).tool::<Sleep>();
    assert_eq!(builder.build().err(), Some(RegistryError::Duplicate("sleep")));
}

#[test]
fn the_list_is_derived_from_the_declaration_and_made_once() {
    let registry = registry(0);
    let list: Value = serde_json::from_slice(&registry.list(&Identity::Owner)).unwrap();
    let schemes = json!([{ "type": "noauth" }, { "type": "oauth2", "scopes": ["library.read"] }]);
    assert_eq!(
        list,
        json!([{
            "name": "sleep",
            "title": "Sleep",
            "description": "Waits.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "ms": { "type": "integer", "minimum": 0 },
                    "then": { "type": ["string", "null"], "description": "Call this tool too." },
                },
                "additionalProperties": false,
                "required": ["ms"],
            },
            "outputSchema": {
                "type": "object",
                "properties": { "slept": { "type": "integer", "minimum": 0 } },
                "additionalProperties": false,
                "required": ["slept"],
            },
            "annotations": {
                "title": "Sleep", "readOnlyHint": false, "destructiveHint": false, "openWorldHint": true,
            },
            "securitySchemes": schemes,
            "_meta": { "securitySchemes": schemes },
        }])
    );
    assert!(std::ptr::eq(registry.list(&Identity::Owner).as_ref(), registry.list(&Identity::Owner).as_ref()));
}

#[tokio::test]
async fn state_is_opened_by_the_first_good_call_and_again_only_after_a_failure() {
    let registry = registry(1);
    let _ = registry.list(&Identity::Owner);
    assert_eq!(
        call(&registry, json!({ "ms": "x" }), local()).await.unwrap_err().error.kind(),
        ErrorKind::InvalidParameter
    );
    assert_eq!(OPENED.load(Ordering::SeqCst), 0);
    assert_eq!(
        call(&registry, json!({ "ms": 1 }), local()).await.unwrap_err().error.message(),
        "set KEY first"
    );
    for _ in 0..2 {
        let reply = call(&registry, json!({ "ms": 1 }), local()).await.unwrap();
        assert_eq!((reply.output, reply.meta.get("k")), (json!({ "slept": 1 }), Some(&json!("v"))));
    }
    assert_eq!(OPENED.load(Ordering::SeqCst), 2);

    // The same registry serves tools that call tools.
    assert!(call(&registry, json!({ "ms": 1, "then": "sleep" }), local()).await.is_ok());
    let missing = call(&registry, json!({ "ms": 1, "then": "none" }), local()).await.unwrap_err();
    assert_eq!(missing.error.kind(), ErrorKind::NotFound);

    // Time and cancellation end a call whatever it does.
    let late = call(&registry, json!({ "ms": 60_000 }), local()).await.unwrap_err();
    assert_eq!(late.error.kind(), ErrorKind::TimedOut);
    let mut hurried = local();
    hurried.deadline = Some(Instant::now() + Duration::from_millis(5));
    let late = call(&registry, json!({ "ms": 100 }), hurried).await.unwrap_err();
    assert_eq!(late.error.kind(), ErrorKind::TimedOut);
    let unwanted = local();
    unwanted.cancel.cancel();
    let cancelled = call(&registry, json!({ "ms": 1 }), unwanted).await.unwrap_err();
    assert_eq!(cancelled.error.kind(), ErrorKind::Cancelled);
}

fn person(scopes: &[&str]) -> Identity {
    Identity::Person(Arc::new(Person {
        issuer: "https://issuer.example".into(),
        subject: "somebody".into(),
        email: None,
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
    }))
}

#[test]
fn only_who_is_admitted_can_call() {
    let registry = registry(0);
    let denied = |name, identity: &Identity| registry.admit(name, identity).err();
    assert_eq!(denied("none", &Identity::Owner), Some(Denied::Unknown));
    assert_eq!(denied("sleep", &Identity::Anonymous), Some(Denied::SignIn(READ)));
    assert_eq!(denied("sleep", &person(&["library.write"])), Some(Denied::Scope(READ)));
    assert_eq!(denied("sleep", &person(&["library.read"])), None);
    assert_eq!(denied("sleep", &Identity::Owner), None);
}

#[test]
fn lists_are_cached_for_each_set_of_scopes_that_matters() {
    let registry = registry(0);
    let list = |identity: &Identity| registry.list(identity);
    assert_eq!(list(&Identity::Anonymous).as_ref(), b"[]");
    assert_eq!(list(&person(&["library.write"])).as_ref(), b"[]");
    assert_eq!(list(&person(&["library.read", "x"])), list(&Identity::Owner));
    for number in 0..1000 {
        let _ = list(&person(&["library.read", &format!("unknown.{number}")]));
    }
    assert_eq!(registry.lists.lock().unwrap().len(), 3);
}

static CLOSED: AtomicUsize = AtomicUsize::new(0);

/// Serves resources without being opened, and counts how often it is closed.
struct Pages;

impl Toolset for Pages {
    const NAME: &'static str = "pages";
    type Config = &'static str;

    async fn open(_: &&'static str) -> Result<Self, ToolError> {
        Ok(Self)
    }

    async fn close(&self) {
        CLOSED.fetch_add(1, Ordering::SeqCst);
    }

    fn resources(_: &&'static str) -> Vec<Resource> {
        let page = |uri: &str, access| Resource {
            uri: uri.into(),
            name: uri.into(),
            title: uri.into(),
            description: "A page.".into(),
            mime_type: "text/html".into(),
            access,
            meta: JsonObject::new(),
        };
        vec![page("ui://open", Access::Anyone), page("ui://local", Access::Local(READ))]
    }

    fn resource_templates(_: &&'static str) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: "page://{number}".into(),
            name: "page".into(),
            title: "Page".into(),
            description: "A page by its number.".into(),
            mime_type: "text/plain".into(),
            access: Access::Local(READ),
        }]
    }

    async fn read_resource(state: &ToolsetState<Self>, uri: &str) -> Result<Option<ResourceText>, ToolError> {
        let text = match uri.strip_prefix("page://") {
            Some("404") => return Ok(None),
            Some(number) => {
                state.open().await?;
                format!("page {number}")
            }
            None => (*state.config()).to_owned(),
        };
        Ok(Some(ResourceText { mime_type: "text/plain".into(), text, meta: JsonObject::new() }))
    }
}

#[tokio::test]
async fn resources_are_listed_and_read_by_those_who_may_and_opened_sets_are_closed() {
    let mut builder = Registry::builder(Duration::from_secs(1));
    builder.toolset::<Pages>("<p>hello</p>");
    let registry = builder.build().unwrap();
    let uris = |identity: &Identity| -> Vec<String> {
        registry.resources(identity).into_iter().map(|resource| resource.uri).collect()
    };
    assert_eq!(uris(&Identity::Owner), ["ui://open", "ui://local"]);
    assert_eq!(uris(&Identity::Anonymous), ["ui://open"]);
    assert_eq!(registry.resource_templates(&Identity::Anonymous), []);
    let read = async |uri: &str, identity: &Identity| {
        let read = registry.admit_resource(uri, identity)?.read().await.unwrap();
        Ok::<_, Denied>(read.map(|read| read.text))
    };
    assert_eq!(read("ui://open", &Identity::Anonymous).await, Ok(Some("<p>hello</p>".into())));
    assert_eq!(read("ui://local", &Identity::Anonymous).await, Err(Denied::SignIn(READ)));
    assert_eq!(read("ui://local", &person(&["x"])).await, Err(Denied::Scope(READ)));
    assert_eq!(read("ui://none", &Identity::Owner).await, Err(Denied::Unknown));
    registry.close().await;
    assert_eq!(CLOSED.load(Ordering::SeqCst), 0, "what was never opened needs no closing");
    assert_eq!(read("page://7", &person(&["library.read"])).await, Ok(Some("page 7".into())));
    assert_eq!(read("page://404", &Identity::Owner).await, Ok(None));
    registry.close().await;
    assert_eq!(CLOSED.load(Ordering::SeqCst), 1);
}
