//! The pages that hosts of MCP Apps display with the results of tools: one program with three entry views. Each page is
//! self-contained, because a host lets it load nothing. The sources are in `widgets/`, and become part of this program
//! when it is compiled.

use std::sync::LazyLock;

use annai_core::{Access, JsonObject, Resource, ResourceText};
use serde_json::{Value, json};

use crate::domain::limits::RETENTION_DAYS;

/// The media type of a page for MCP Apps.
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The program, in the order in which its files need each other.
const SCRIPT: &str = concat!(
    include_str!("../widgets/dom.js"),
    include_str!("../widgets/text.js"),
    include_str!("../widgets/bridge.js"),
    include_str!("../widgets/states.js"),
    include_str!("../widgets/fields.js"),
    include_str!("../widgets/list.js"),
    include_str!("../widgets/task.js"),
    include_str!("../widgets/dashboard.js"),
    include_str!("../widgets/output.js"),
    include_str!("../widgets/run.js"),
    include_str!("../widgets/app.js"),
);
/// The style, in the order of its cascade.
const STYLE: &str = concat!(
    include_str!("../widgets/tokens.css"),
    include_str!("../widgets/controls.css"),
    include_str!("../widgets/views.css"),
);

/// The part of every page before its title.
static HEAD: LazyLock<String> = LazyLock::new(|| {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n{}</style>\n",
        compact_style(STYLE),
    )
});
/// The part of every page after its settings.
static PROGRAM: LazyLock<String> = LazyLock::new(|| {
    format!(
        "<script>\n(() => {{\n\"use strict\";\n{}}})();\n</script>\n</body>\n</html>\n",
        compact_script(SCRIPT)
    )
});

/// A page: where it is, what it is called, and the view that it begins with.
struct Page {
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    /// The view, a name in `app.js`.
    entry: &'static str,
    /// What it shows, for people in the list of resources and for the model in ChatGPT, so that it does not repeat it.
    description: &'static str,
}

const PAGES: [Page; 3] = [
    Page {
        uri: "ui://widget/services-list.html",
        name: "services-list",
        title: "Sponsored services",
        entry: "list",
        description: "Shows the services that were found as cards with sponsor, task and amount. The user can open a task, state their consent, run a service and read its result here.",
    },
    Page {
        uri: "ui://widget/task-form.html",
        name: "task-form",
        title: "Task of a sponsor",
        entry: "task",
        description: "Shows the task of a sponsor as a form with its fields and the three questions about consent. The user fills it in and sends it here, then runs the service.",
    },
    Page {
        uri: "ui://widget/user-dashboard.html",
        name: "user-dashboard",
        title: "My page",
        entry: "dashboard",
        description: "Shows who the user is, the tasks that they have completed and the services that are ready. The user can run a service and read its result here.",
    },
];

/// What an operator decides about the pages.
#[derive(Debug, Clone, Copy, Default)]
pub struct WidgetOptions<'a> {
    /// The URL of this server, where the privacy policy is; without one the pages have no link to it.
    pub public_url: Option<&'a str>,
    /// The origin on which a host displays the pages. Each host has its own form for it, so it is passed on as it is.
    pub domain: Option<&'a str>,
}

/// The pages as resources, which anybody may read: they contain no data.
#[must_use]
pub fn resources(options: WidgetOptions<'_>) -> Vec<Resource> {
    let resource = |page: &Page| Resource {
        uri: page.uri.to_owned(),
        name: page.name.to_owned(),
        title: page.title.to_owned(),
        description: page.description.to_owned(),
        mime_type: MIME_TYPE.to_owned(),
        access: Access::Anyone,
        meta: page.meta(options),
    };
    PAGES.iter().map(resource).collect()
}

/// The page at a URI.
#[must_use]
pub fn read(uri: &str, options: WidgetOptions<'_>) -> Option<ResourceText> {
    let page = PAGES.iter().find(|page| page.uri == uri)?;
    let (text, meta) = (page.html(options), page.meta(options));
    Some(ResourceText { mime_type: MIME_TYPE.to_owned(), text, meta, next: None })
}

impl Page {
    fn html(&self, options: WidgetOptions<'_>) -> String {
        let Self { title, entry, .. } = self;
        let privacy_url = options.public_url.map(|url| format!("{}/privacy", url.trim_end_matches('/')));
        let settings = json!({
            "app": { "name": "annai", "title": title, "version": env!("CARGO_PKG_VERSION") },
            "retention_days": RETENTION_DAYS,
            "privacy_url": privacy_url,
        });
        // Nothing in a script element can end it but `</script`, and nothing but `<` begins that.
        let settings = settings.to_string().replace('<', "\\u003c");
        let (head, program) = (&*HEAD, &*PROGRAM);
        format!(
            "{head}<title>{title}</title>\n</head>\n<body data-entry=\"{entry}\">\n\
             <script id=\"settings\" type=\"application/json\">{settings}</script>\n{program}"
        )
    }

    /// What hosts need to know: that the page loads nothing, that it wants a border, and what it shows.
    fn meta(&self, options: WidgetOptions<'_>) -> JsonObject {
        let mut ui = JsonObject::new();
        ui.insert("csp".into(), json!({ "connectDomains": [], "resourceDomains": [] }));
        ui.insert("prefersBorder".into(), true.into());
        let mut meta = JsonObject::new();
        if let Some(domain) = options.domain {
            ui.insert("domain".into(), domain.into());
            meta.insert("openai/widgetDomain".into(), domain.into());
        }
        meta.insert("ui".into(), Value::Object(ui));
        meta.insert("openai/widgetDescription".into(), self.description.into());
        meta.insert("openai/widgetPrefersBorder".into(), true.into());
        meta.insert("openai/widgetCSP".into(), json!({ "connect_domains": [], "resource_domains": [] }));
        meta
    }
}

/// A source without what no page needs to carry, a quarter of it: comments, indentation, the comma of a last item, and line
/// breaks after an opening bracket, a comma or a semicolon, and before what can only continue or end something. The sources
/// keep their comments on lines of their own, and contain no texts of several lines, in which this would matter.
fn compact(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut is_comment = false;
    for line in source.lines().map(str::trim) {
        is_comment |= line.starts_with("/*");
        if !is_comment && !line.is_empty() && !line.starts_with("//") {
            if line.starts_with(['}', ')', ']']) && text.ends_with(',') {
                text.pop();
            }
            let is_joined = text.is_empty()
                || text.ends_with(['{', '(', '[', ',', ';'])
                || line.starts_with(['}', ')', ']', '.', '?', ':']);
            if !is_joined {
                text.push('\n');
            }
            text.push_str(line);
        }
        is_comment &= !line.ends_with("*/");
    }
    text.push('\n');
    text
}

/// A style sheet without what no page needs to carry.
fn compact_style(source: &str) -> String {
    compact(source)
        .replace(": ", ":")
        .replace(" {", "{")
        .replace(", ", ",")
        .replace(";}", "}")
        .replace('\n', "")
}

/// A program without what no page needs to carry: outside of texts, only names and numbers need a space between them. The
/// sources have their texts between double quotes or backticks, and no spaces in their patterns.
fn compact_script(source: &str) -> String {
    let source = compact(source);
    let is_name = |char: char| char.is_alphanumeric() || matches!(char, '_' | '$');
    let mut text = String::with_capacity(source.len());
    let mut quote = None;
    let mut chars = source.chars().peekable();
    while let Some(char) = chars.next() {
        if quote == Some(char) {
            quote = None;
        } else if quote.is_none() && matches!(char, '"' | '`') {
            quote = Some(char);
        }
        let is_between_names = text.ends_with(is_name) && chars.peek().copied().is_some_and(is_name);
        if char != ' ' || quote.is_some() || is_between_names {
            text.push(char);
        }
    }
    text.replace(";}", "}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a page may weigh, in bytes: hosts fetch it with every conversation that displays it.
    const MAX_PAGE_BYTES: usize = 60_000;

    fn pages() -> Vec<String> {
        let options = WidgetOptions { public_url: Some("https://annai.example.com/"), domain: None };
        PAGES.iter().map(|page| read(page.uri, options).unwrap().text).collect()
    }

    #[test]
    fn every_page_is_small_and_complete() {
        for (html, page) in pages().iter().zip(&PAGES) {
            assert!(html.len() < MAX_PAGE_BYTES, "{}: {} bytes", page.name, html.len());
            assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
            assert!(html.contains(&format!("data-entry=\"{}\"", page.entry)));
            assert!(html.contains("\"privacy_url\":\"https://annai.example.com/privacy\""));
            assert!(html.contains(&format!("\"retention_days\":{RETENTION_DAYS}")));
            assert_eq!(html.matches("</script").count(), 2, "nothing in a script ends it early");
            assert_eq!(html.matches("<!--").count(), 0);
        }
    }

    #[test]
    fn no_page_makes_markup_of_data_or_loads_anything() {
        for html in pages() {
            let forbidden = [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "DOMParser",
                "eval(",
                "new Function",
                "srcdoc",
                "fetch(",
                "XMLHttpRequest",
                "WebSocket",
                "EventSource",
                "sendBeacon",
                "import(",
                "@import",
                "url(",
                " src=",
                " href=",
                "localStorage",
                "document.cookie",
            ];
            for text in forbidden {
                assert!(!html.contains(text), "{text}");
            }
            // The only addresses are the name of SVG's namespace and the link to the privacy policy; a form completes
            // with the scheme what a user types.
            let addresses = html
                .replace("http://www.w3.org/2000/svg", "")
                .replace("https://annai.example.com/privacy", "")
                .replace("`https://${text}`", "");
            assert!(!addresses.contains("http://") && !addresses.contains("https://"));
        }
    }

    #[test]
    fn the_description_of_a_page_lets_it_load_nothing() {
        let resources = resources(WidgetOptions::default());
        assert_eq!(resources.len(), 3);
        for resource in resources {
            assert_eq!((resource.mime_type.as_str(), resource.access), (MIME_TYPE, Access::Anyone));
            let text = read(&resource.uri, WidgetOptions::default()).unwrap();
            assert_eq!((&text.mime_type, &text.meta), (&resource.mime_type, &resource.meta));
            let mut meta = resource.meta;
            assert_eq!(meta.remove("openai/widgetDescription"), Some(resource.description.into()));
            let expected = json!({
                "ui": { "csp": { "connectDomains": [], "resourceDomains": [] }, "prefersBorder": true },
                "openai/widgetPrefersBorder": true,
                "openai/widgetCSP": { "connect_domains": [], "resource_domains": [] },
            });
            assert_eq!(Value::Object(meta), expected);
        }
        assert_eq!(read("ui://widget/other.html", WidgetOptions::default()), None);
    }

    #[test]
    fn a_domain_is_passed_on_as_it_is() {
        let options =
            WidgetOptions { domain: Some("www-example-com.oaiusercontent.com"), ..WidgetOptions::default() };
        for resource in resources(options) {
            assert_eq!(resource.meta["ui"]["domain"], "www-example-com.oaiusercontent.com");
            assert_eq!(resource.meta["openai/widgetDomain"], "www-example-com.oaiusercontent.com");
        }
    }

    #[test]
    fn a_hostile_public_url_does_not_end_the_settings() {
        let options = WidgetOptions { public_url: Some("https://x/</script><b>"), domain: None };
        let html = read("ui://widget/task-form.html", options).unwrap().text;
        assert!(html.contains("https://x/\\u003c/script>\\u003cb>/privacy"));
        assert_eq!(html.matches("</script").count(), 2);
    }

    #[test]
    fn comments_indentation_and_needless_line_breaks_are_left_out() {
        let source = "// One.\nlet a;\n\n  /** Two. */\n  if (b) {\n  c([\n1,\n2,\n])\n.e();\n  }\n/*\n * Three.\n */\nd();\n";
        assert_eq!(compact(source), "let a;if (b) {c([1,2]).e();}\nd();\n");
        assert_eq!(compact_style("a,\nb {\n  c: d(e, f);\n}\n.g {\n}\n"), "a,b{c:d(e,f)}.g{}");
        assert_eq!(
            compact_script(
                "const { a } = b === c ? \"d , e\" : `f ${ g } \"h\" , i`;\nif (j) { return k; }\n"
            ),
            "const{a}=b===c?\"d , e\":`f ${ g } \"h\" , i`;if(j){return k}\n"
        );
    }

    /// What `compact` relies on.
    #[test]
    fn comments_are_on_lines_of_their_own_and_texts_end_where_they_seem_to() {
        for line in SCRIPT.lines().chain(STYLE.lines()).map(str::trim) {
            let is_comment = ["//", "/*", "*"].iter().any(|mark| line.starts_with(mark));
            let has_comment = line.contains("// ") || line.contains("/*") || line.contains("*/");
            assert!(is_comment || !has_comment || line.ends_with("*/"), "{line}");
            assert!(is_comment || line.matches('`').count() % 2 == 0, "{line}");
            assert!(is_comment || !line.contains("\\\"") && !line.contains("\\`"), "{line}");
        }
    }
}
