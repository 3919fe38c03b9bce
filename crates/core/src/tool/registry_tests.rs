use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::RegistryError;
use super::*;
use crate::{
    Access, Call, Denied, Effect, ErrorKind, FailedCall, Guide, JsonObject, Person, Reply, ResourcePage,
    ResourceText, Sponsor, Tool, ToolError, Toolset, ToolsetState, Widget, World,
};

#[path = "resource_tests.rs"]
mod resources;

const CALL_TIMEOUT: Duration = Duration::from_secs(200);

/// A toolset whose first attempts to open fail, and which counts the attempts.
struct TestSet;

#[derive(Clone, Default)]
struct TestConfig {
    failing_attempts: usize,
    attempts: Arc<AtomicUsize>,
}

impl Toolset for TestSet {
    const NAME: &'static str = "test";
    const INSTRUCTIONS: &'static [&'static str] = &["Call `sleep` first."];
    type Config = TestConfig;

    async fn open(config: &TestConfig) -> Result<Self, ToolError> {
        if config.attempts.fetch_add(1, Ordering::SeqCst) < config.failing_attempts {
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
        status: None,
        widget: Widget::None,
        guide: Guide { when: "tired", safe_defaults: "{\"ms\":1}", common_errors: &[] },
    };
    type Set = TestSet;
    type Input = Input;
    type Output = Output;

    async fn run(_: &TestSet, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        assert!(call.deadline.is_some(), "every call has a deadline");
        tokio::time::sleep(Duration::from_millis(input.ms)).await;
        if let Some(name) = input.then {
            let registry = call.registry().ok_or_else(|| ToolError::internal("no registry"))?;
            let arguments = JsonObject::from_iter([("ms".to_owned(), 1.into())]);
            let admitted = registry.admit(&name, call.identity())?;
            Box::pin(admitted.call(arguments, Call::new("inner"))).await.map_err(|failed| failed.error)?;
        }
        Ok(Reply::new(Output { slept: input.ms }).with_meta("k", "v"))
    }
}

fn registry_with(config: TestConfig) -> Arc<Registry> {
    let mut builder = Registry::builder(CALL_TIMEOUT);
    builder.toolset::<TestSet>(config).tool::<Sleep>();
    builder.build().unwrap()
}

fn registry() -> Arc<Registry> {
    registry_with(TestConfig::default())
}

/// Calls `sleep` as the owner.
async fn call(registry: &Arc<Registry>, arguments: Value, call: Call) -> Result<Reply<Value>, FailedCall> {
    let Value::Object(arguments) = arguments else { panic!("not an object") };
    registry.admit("sleep", &Identity::Owner).unwrap().call(arguments, call).await
}

/// The kind of error of a call that must fail.
async fn error_kind(registry: &Arc<Registry>, arguments: Value, context: Call) -> ErrorKind {
    call(registry, arguments, context).await.unwrap_err().error.kind()
}

#[test]
fn two_tools_with_the_same_name_are_an_error() {
    let mut builder = Registry::builder(CALL_TIMEOUT);
    builder.toolset::<TestSet>(TestConfig::default()).tool::<Sleep>();
    builder.toolset::<TestSet>(TestConfig::default()).tool::<Sleep>();
    assert_eq!(builder.build().err(), Some(RegistryError::Duplicate("sleep")));
}

#[test]
fn the_list_is_derived_from_the_declaration_and_serialized_once() {
    let registry = registry();
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
                    "then": { "type": "string", "description": "Call this tool too." },
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

#[tokio::test(start_paused = true)]
async fn the_state_is_opened_by_the_first_valid_call_and_again_only_after_a_failure() {
    let config = TestConfig { failing_attempts: 1, ..TestConfig::default() };
    let (registry, attempts) = (registry_with(config.clone()), config.attempts);
    let _ = registry.list(&Identity::Owner);
    assert_eq!(
        error_kind(&registry, json!({ "ms": "x" }), Call::new("1")).await,
        ErrorKind::InvalidParameter
    );
    assert_eq!(attempts.load(Ordering::SeqCst), 0);
    let failed = call(&registry, json!({ "ms": 1 }), Call::new("1")).await.unwrap_err();
    assert_eq!(failed.error.message(), "set KEY first");
    for _ in 0..2 {
        let reply = call(&registry, json!({ "ms": 1 }), Call::new("1")).await.unwrap();
        assert_eq!((reply.output, reply.meta.get("k")), (json!({ "slept": 1 }), Some(&json!("v"))));
    }
    assert_eq!(attempts.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_tool_can_call_another_tool_of_the_registry() {
    let registry = registry();
    assert!(call(&registry, json!({ "ms": 1, "then": "sleep" }), Call::new("1")).await.is_ok());
    let unknown = json!({ "ms": 1, "then": "none" });
    assert_eq!(error_kind(&registry, unknown, Call::new("1")).await, ErrorKind::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_call_times_out_at_the_earlier_of_its_deadline_and_the_call_timeout() {
    let registry = registry();
    let started = Instant::now();
    let failed = call(&registry, json!({ "ms": 600_000 }), Call::new("1")).await.unwrap_err();
    assert_eq!(failed.error.kind(), ErrorKind::TimedOut);
    assert_eq!(
        failed.error.message(),
        "the call timed out after 200 s; request less in one call, or raise server.call_timeout_ms"
    );
    // Timers have a resolution of one millisecond.
    let tolerance = Duration::from_millis(2);
    assert!(started.elapsed().abs_diff(CALL_TIMEOUT) < tolerance, "{:?}", started.elapsed());

    let (started, deadline) = (Instant::now(), Duration::from_secs(5));
    let mut context = Call::new("1");
    context.deadline = Some((started + deadline).into_std());
    assert_eq!(error_kind(&registry, json!({ "ms": 100_000 }), context).await, ErrorKind::TimedOut);
    assert!(started.elapsed().abs_diff(deadline) < tolerance, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_before_the_tool_does() {
    let registry = registry();
    let context = Call::new("1");
    context.cancel.cancel();
    assert_eq!(error_kind(&registry, json!({ "ms": 1 }), context).await, ErrorKind::Cancelled);
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
fn a_caller_is_admitted_by_the_access_rule_of_the_tool() {
    let registry = registry();
    let denied = |name, identity: &Identity| registry.admit(name, identity).err();
    assert_eq!(denied("none", &Identity::Owner), Some(Denied::Unknown));
    assert_eq!(denied("sleep", &Identity::Anonymous), Some(Denied::SignIn(READ.into())));
    assert_eq!(denied("sleep", &person(&["library.write"])), Some(Denied::Scope(READ.into())));
    assert_eq!(denied("sleep", &person(&["library.read"])), None);
    assert_eq!(denied("sleep", &Identity::Owner), None);
}

#[test]
fn one_list_is_cached_for_each_set_of_scopes_that_tools_require() {
    let registry = registry();
    let list = |identity: &Identity| registry.list(identity);
    assert_eq!(list(&Identity::Anonymous).as_ref(), b"[]");
    assert_eq!(list(&person(&["library.write"])).as_ref(), b"[]");
    let of_person = list(&person(&["library.read", "x"]));
    let of_person = String::from_utf8(of_person.to_vec()).unwrap();
    let of_owner = String::from_utf8(list(&Identity::Owner).to_vec()).unwrap();
    assert_eq!(of_person, of_owner.replace(r#"{"type":"noauth"},"#, ""), "only the owner needs no token");
    for number in 0..1000 {
        let _ = list(&person(&["library.read", &format!("unknown.{number}")]));
    }
    assert_eq!(registry.lists.lock().unwrap().len(), 3);
}

/// A tool that changes nothing.
struct Nap;

impl Tool for Nap {
    const FACTS: Facts = Facts { name: "nap", title: "Nap", effect: Effect::Read, ..Sleep::FACTS };
    type Set = TestSet;
    type Input = Input;
    type Output = Output;

    async fn run(set: &TestSet, call: &Call, input: Input) -> Result<Reply<Output>, ToolError> {
        Sleep::run(set, call, input).await
    }
}

/// A registry with two tools of one toolset, and with the resources of another toolset.
fn full_registry() -> Arc<Registry> {
    let mut builder = Registry::builder(CALL_TIMEOUT);
    builder.toolset::<TestSet>(TestConfig::default()).tool::<Sleep>().tool::<Nap>();
    builder.toolset::<resources::Pages>(Arc::default());
    builder.build().unwrap()
}

fn select(toolsets: Option<&str>, tools: &[&str], read_only: bool) -> ToolSelection {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let toolsets = toolsets.map(|names| words(&names.split(',').collect::<Vec<_>>()));
    ToolSelection { toolsets, tools: words(tools), read_only }
}

#[test]
fn a_selection_chooses_and_removes_tools() {
    let registry = full_registry();
    for (selection, chosen) in [
        (select(None, &[], false), "sleep,nap"),
        (select(None, &["nap"], false), "nap"),
        (select(None, &["-nap"], false), "sleep"),
        (select(None, &["nap", "sleep", "-sleep"], false), "nap"),
        (select(None, &[], true), "nap"),
        (select(None, &["sleep"], true), ""),
        (select(Some("pages"), &[], false), ""),
        (select(Some("pages,test"), &["-nap"], false), "sleep"),
    ] {
        let selected = registry.select(&selection).unwrap();
        let names: Vec<_> = selected.tools().map(|tool| tool.facts.name).collect();
        assert_eq!(names.join(","), chosen, "{selection:?}");
        for tool in ["sleep", "nap"] {
            let denied = selected.admit(tool, &Identity::Owner).err();
            assert_eq!(denied, (!names.contains(&tool)).then_some(Denied::Unknown), "{selection:?}");
        }
    }
}

#[test]
fn a_selection_names_only_what_exists() {
    let registry = full_registry();
    let error = |selection| registry.select(&selection).err().unwrap().to_string();
    assert_eq!(
        error(select(None, &["-none"], false)),
        "there is no tool named `none`; the tools are sleep, nap"
    );
    assert_eq!(
        error(select(Some("pages"), &["nap"], false)),
        "the tool `nap` belongs to the toolset `test`, which is not served"
    );
    assert_eq!(
        error(select(Some("none"), &[], false)),
        "no toolset named `none` is served; the served toolsets are test, pages"
    );
}

#[test]
fn equal_selections_share_their_lists_and_the_instructions_name_visible_tools_only() {
    let registry = full_registry();
    let first = registry.select(&select(Some("test,pages"), &["nap"], false)).unwrap();
    let second = registry.select(&select(None, &["-sleep"], false)).unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    let instructions = registry.instructions(&Identity::Owner);
    assert_eq!(instructions.as_deref(), Some("Call `sleep` first."));
    assert_eq!(registry.instructions(&Identity::Anonymous), None);
    assert_eq!(first.instructions(&Identity::Owner), None);
}

#[tokio::test]
async fn the_state_of_a_toolset_is_shared_with_whoever_knows_its_type() {
    let registry = registry();
    let state = registry.toolset::<TestSet>().unwrap();
    state.open().await.unwrap();
    assert_eq!(state.config().attempts.load(Ordering::SeqCst), 1);
    let narrowed = ToolSelection { toolsets: Some(vec!["test".to_owned()]), ..ToolSelection::default() };
    let selected = registry.select(&narrowed).unwrap();
    selected.toolset::<TestSet>().unwrap().open().await.unwrap();
    assert_eq!(state.config().attempts.load(Ordering::SeqCst), 1);
}
