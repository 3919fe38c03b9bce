use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::RegistryError;
use super::*;
use crate::{
    Access, Call, Effect, ErrorKind, FailedCall, Guide, Person, Reply, ResourcePage, ResourceText, Sponsor,
    Tool, ToolError, Toolset, ToolsetState, Widget, World,
};

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
    assert_eq!(denied("sleep", &Identity::Anonymous), Some(Denied::SignIn(READ)));
    assert_eq!(denied("sleep", &person(&["library.write"])), Some(Denied::Scope(READ)));
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
    builder.toolset::<Pages>(Arc::default());
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

#[tokio::test]
async fn the_resources_of_a_toolset_that_is_not_chosen_do_not_exist() {
    let registry = full_registry();
    let without = registry.select(&select(Some("test"), &[], false)).unwrap();
    assert_eq!(without.resources(&Identity::Owner), []);
    assert_eq!(without.resource_templates(&Identity::Owner), []);
    assert!(!without.has_resources() && !without.has_toolset("pages"));
    assert_eq!(read(&without, "ui://open", &Identity::Owner).await, Err(Denied::Unknown));
    assert_eq!(read(&without, "page://7", &Identity::Owner).await, Err(Denied::Unknown));
    let with = registry.select(&select(None, &["nap"], false)).unwrap();
    assert!(read(&with, "ui://open", &Identity::Owner).await.is_ok());
    assert!(registry.select(&select(Some("pages"), &[], false)).unwrap().has_resources());
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

/// A toolset that serves most of its resources without being opened, and counts how often it is closed.
struct Pages {
    closed: Arc<AtomicUsize>,
}

impl Toolset for Pages {
    const NAME: &'static str = "pages";
    const INSTRUCTIONS: &'static [&'static str] = &[];
    type Config = Arc<AtomicUsize>;

    async fn open(closed: &Arc<AtomicUsize>) -> Result<Self, ToolError> {
        Ok(Self { closed: closed.clone() })
    }

    async fn close(&self) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    fn resources(_: &Arc<AtomicUsize>) -> Vec<Resource> {
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

    fn resource_templates(_: &Arc<AtomicUsize>) -> Vec<ResourceTemplate> {
        let template = |uri_template: &str, access| ResourceTemplate {
            uri_template: uri_template.into(),
            name: if access == Access::Anyone { "public" } else { "page" }.into(),
            title: "Page".into(),
            description: "A page by its number.".into(),
            mime_type: "text/plain".into(),
            access,
            tool: None,
        };
        vec![
            template("page://public/{number}", Access::Anyone),
            template("page://{number}", Access::Local(READ)),
        ]
    }

    async fn list_resources(
        _: &ToolsetState<Self>,
        _: &Call,
        template: &str,
        cursor: Option<&str>,
    ) -> Result<ResourcePage, ToolError> {
        let number = match cursor {
            None => 1,
            Some("2") => 2,
            Some(_) => return Err(ToolError::invalid("cursor: unknown")),
        };
        let uri = format!("{template}://{number}");
        let resource = Resource { uri, ..Self::resources(&Arc::default()).remove(0) };
        Ok(ResourcePage { resources: vec![resource], next_cursor: (number == 1).then(|| "2".to_owned()) })
    }

    async fn read_resource(
        state: &ToolsetState<Self>,
        _: &Call,
        uri: &str,
    ) -> Result<Option<ResourceText>, ToolError> {
        let text = match uri.strip_prefix("page://") {
            Some("404") => return Ok(None),
            Some("panic") => panic!("on purpose"),
            Some("sleep") => std::future::pending().await,
            Some(number) => {
                state.open().await?;
                format!("page {number}")
            }
            None => "<p>hello</p>".to_owned(),
        };
        Ok(Some(ResourceText { mime_type: "text/plain".into(), text, meta: JsonObject::new(), next: None }))
    }
}

fn registry_with_pages(closed: &Arc<AtomicUsize>) -> Arc<Registry> {
    let mut builder = Registry::builder(CALL_TIMEOUT);
    builder.toolset::<Pages>(closed.clone());
    builder.build().unwrap()
}

async fn read(registry: &Arc<Registry>, uri: &str, identity: &Identity) -> Result<Option<String>, Denied> {
    let contents = registry.admit_resource(uri, identity)?.read(Call::new("1")).await.unwrap();
    Ok(contents.map(|contents| contents.text))
}

#[tokio::test]
async fn resources_are_listed_for_and_read_by_admitted_callers_only() {
    let registry = registry_with_pages(&Arc::default());
    let uris = |identity: &Identity| -> Vec<String> {
        registry.resources(identity).into_iter().map(|resource| resource.uri).collect()
    };
    assert_eq!(uris(&Identity::Owner), ["ui://open", "ui://local"]);
    assert_eq!(uris(&Identity::Anonymous), ["ui://open"]);
    let templates = registry.resource_templates(&Identity::Anonymous);
    assert_eq!(templates.len(), 1, "{templates:?}");

    let page = Ok(Some("<p>hello</p>".to_owned()));
    assert_eq!(read(&registry, "ui://open", &Identity::Anonymous).await, page);
    assert_eq!(read(&registry, "ui://local", &Identity::Anonymous).await, Err(Denied::SignIn(READ)));
    assert_eq!(read(&registry, "ui://local", &person(&["x"])).await, Err(Denied::Scope(READ)));
    assert_eq!(read(&registry, "ui://none", &Identity::Owner).await, Err(Denied::Unknown));
    let page = Ok(Some("page 7".to_owned()));
    assert_eq!(read(&registry, "page://7", &person(&["library.read"])).await, page);
    assert_eq!(read(&registry, "page://404", &Identity::Owner).await, Ok(None));
    // Of two templates that match, the more specific one decides.
    assert!(read(&registry, "page://public/7", &Identity::Anonymous).await.is_ok());
    assert_eq!(read(&registry, "page://7", &Identity::Anonymous).await, Err(Denied::SignIn(READ)));
}

#[tokio::test(start_paused = true)]
async fn a_read_ends_at_its_deadline_when_cancelled_and_when_it_panics() {
    let registry = registry_with_pages(&Arc::default());
    let read = async |uri: &str, call: Call| {
        let admitted = registry.admit_resource(uri, &Identity::Owner).unwrap();
        admitted.read(call).await.unwrap_err().kind()
    };
    assert_eq!(read("page://sleep", Call::new("1")).await, ErrorKind::TimedOut);
    assert_eq!(read("page://panic", Call::new("1")).await, ErrorKind::Internal);
    let cancelled = Call::new("1");
    cancelled.cancel.cancel();
    assert_eq!(read("page://7", cancelled).await, ErrorKind::Cancelled);
}

#[tokio::test]
async fn opened_toolsets_are_closed_once_and_not_opened_again() {
    let closed = Arc::default();
    let registry = registry_with_pages(&closed);
    read(&registry, "page://7", &Identity::Owner).await.unwrap();
    registry.close().await;
    registry.close().await;
    assert_eq!(closed.load(Ordering::SeqCst), 1);

    let closed = Arc::default();
    let registry = registry_with_pages(&closed);
    read(&registry, "ui://open", &Identity::Owner).await.unwrap();
    registry.close().await;
    assert_eq!(closed.load(Ordering::SeqCst), 0, "reading this page does not open the toolset");
    let admitted = registry.admit_resource("page://7", &Identity::Owner).unwrap();
    assert_eq!(admitted.read(Call::new("1")).await.unwrap_err().kind(), ErrorKind::Cancelled);
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

#[tokio::test]
async fn resources_of_templates_are_listed_page_by_page_for_admitted_callers() {
    let registry = registry_with_pages(&Arc::default());
    let pages = async |identity: &Identity| {
        let (mut cursor, mut pages) = (None, Vec::new());
        loop {
            let page = registry.list_resources(cursor.as_deref(), identity, Call::new("1")).await.unwrap();
            pages.push(page.resources.into_iter().map(|resource| resource.uri).collect::<Vec<_>>());
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return pages,
            }
        }
    };
    let always: Vec<_> = registry.resources(&Identity::Owner).into_iter().map(|each| each.uri).collect();
    let first = always.iter().cloned().chain(["public://1".to_owned()]).collect::<Vec<_>>();
    let rest = ["public://2", "page://1", "page://2"].map(|uri| vec![uri.to_owned()]);
    assert_eq!(pages(&Identity::Owner).await, [vec![first], rest.to_vec()].concat());
    let for_anybody = pages(&Identity::Anonymous).await;
    assert!(for_anybody.concat().iter().all(|uri| !uri.starts_with("page://")), "{for_anybody:?}");
    for cursor in ["", "nothing", "page", "nothing/2", "public/9"] {
        let refused = registry.list_resources(Some(cursor), &Identity::Owner, Call::new("1")).await;
        assert!(refused.unwrap_err().message().starts_with("cursor: unknown"), "{cursor}");
    }
    let hidden = registry.list_resources(Some("page/2"), &Identity::Anonymous, Call::new("1")).await;
    assert!(hidden.is_err(), "a cursor does not open what a caller may not read");
}
