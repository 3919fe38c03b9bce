//! Resources of toolsets: who sees and reads them, how they are listed, and when their toolset is opened and closed.

use super::*;

/// A toolset that serves most of its resources without being opened, and counts how often it is closed.
pub(super) struct Pages {
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
    assert_eq!(read(&registry, "ui://local", &Identity::Anonymous).await, Err(Denied::SignIn(READ.into())));
    assert_eq!(read(&registry, "ui://local", &person(&["x"])).await, Err(Denied::Scope(READ.into())));
    assert_eq!(read(&registry, "ui://none", &Identity::Owner).await, Err(Denied::Unknown));
    let page = Ok(Some("page 7".to_owned()));
    assert_eq!(read(&registry, "page://7", &person(&["library.read"])).await, page);
    assert_eq!(read(&registry, "page://404", &Identity::Owner).await, Ok(None));
    // Of two templates that match, the more specific one decides.
    assert!(read(&registry, "page://public/7", &Identity::Anonymous).await.is_ok());
    assert_eq!(read(&registry, "page://7", &Identity::Anonymous).await, Err(Denied::SignIn(READ.into())));
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
