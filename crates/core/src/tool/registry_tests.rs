use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::{Effect, Guide, Scope, Sponsor, World};

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

struct Sleep;

impl Tool for Sleep {
    const FACTS: Facts = Facts {
        name: "sleep",
        title: "Sleep",
        description: "Waits.",
        effect: Effect::Write,
        world: World::Open,
        access: Access::Local(Scope::LibraryRead),
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
            let tools = call.tools().ok_or_else(|| ToolError::internal("no registry"))?;
            let arguments = JsonObject::from_iter([("ms".to_owned(), 1.into())]);
            let call = Call::new(call.identity.clone(), "inner");
            let inner = Box::pin(tools.call(&name, arguments, call)).await;
            inner
                .ok_or_else(|| ToolError::new(ErrorKind::NotFound, "no such tool"))?
                .map_err(|failed| failed.error)?;
        }
        Ok(Reply::new(Output { slept: input.ms }, "slept").with_meta("k", "v"))
    }
}

fn registry(fails: usize) -> Arc<Registry> {
    let mut builder = Registry::builder(Duration::from_millis(200));
    builder.toolset::<Set>(fails).tool::<Sleep>();
    builder.build().unwrap()
}

async fn call(registry: &Arc<Registry>, arguments: Value, call: Call) -> Result<Reply<Value>, Failed> {
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    registry.call("sleep", arguments, call).await.unwrap()
}

fn local() -> Call {
    Call::new(Identity::Local, "1")
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
    let list: Value = serde_json::from_slice(registry.list(&Identity::Local)).unwrap();
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
    assert!(std::ptr::eq(registry.list(&Identity::Local), registry.list(&Identity::Local)));
}

#[tokio::test]
async fn state_is_opened_by_the_first_good_call_and_again_only_after_a_failure() {
    let registry = registry(1);
    let _ = registry.list(&Identity::Local);
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

#[test]
fn what_is_local_is_hidden_from_strangers() {
    assert_eq!(registry(0).list(&Identity::Anonymous).as_ref(), b"[]");
}

#[tokio::test]
async fn unknown_names_are_nobodys() {
    assert!(registry(0).call("none", JsonObject::new(), local()).await.is_none());
}
