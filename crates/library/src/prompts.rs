//! The prompts of the library: the journeys that people begin most often, in words that lead a model through the tools.

use std::collections::HashMap;

use annai_core::{Access, Prompt, PromptArgument};

use crate::scopes::LIBRARY_READ;

const MANUAL_ID: PromptArgument = PromptArgument {
    name: "manual_id",
    description: "The manual to search (default: all of them).",
    is_required: false,
};

/// All prompts of the library.
pub(crate) const PROMPTS: &[Prompt] = &[
    Prompt {
        name: "explore_topic",
        title: "Read everything about a topic / ある話題を漏れなく調べる",
        description: "Read everything that the manuals say about a topic, with exceptions and contradictions, and say what was not read.",
        arguments: &[
            PromptArgument {
                name: "topic",
                description: "The topic or question, in your own words.",
                is_required: true,
            },
            MANUAL_ID,
        ],
        access: Access::Local(LIBRARY_READ),
        tool: "manual_find",
        icon: include_str!("../icon.svg"),
        text: explore_topic,
    },
    Prompt {
        name: "audit_artifact",
        title: "Check an artifact against its source / 成果物を原文と照合する",
        description: "Check that a document or a flowchart in the vault says everything that its source says, and nothing else.",
        arguments: &[
            PromptArgument {
                name: "path",
                description: "The path of the artifact in the vault, such as artifacts/flow.md.",
                is_required: true,
            },
            PromptArgument {
                name: "source_path",
                description: "The path of the vault file that it was made from.",
                is_required: true,
            },
        ],
        access: Access::Local(LIBRARY_READ),
        tool: "artifact_audit",
        icon: include_str!("../icon.svg"),
        text: audit_artifact,
    },
    Prompt {
        name: "compare_editions",
        title: "Compare two manuals / 二つの版を比べる",
        description: "List what two manuals, such as two editions, say differently about a topic.",
        arguments: &[
            PromptArgument { name: "topic", description: "What to compare.", is_required: true },
            PromptArgument {
                name: "manual_id",
                description: "The first manual, such as the older edition.",
                is_required: true,
            },
            PromptArgument {
                name: "other_manual_id",
                description: "The second manual, such as the newer edition.",
                is_required: true,
            },
        ],
        access: Access::Local(LIBRARY_READ),
        tool: "manual_find",
        icon: include_str!("../icon.svg"),
        text: compare_editions,
    },
];

/// The value of an argument, quoted as JSON, so that a model sees where it ends.
fn quoted(arguments: &HashMap<String, String>, name: &str) -> Option<String> {
    let value = arguments.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())?;
    Some(serde_json::Value::from(value).to_string())
}

fn explore_topic(arguments: &HashMap<String, String>) -> String {
    let topic = quoted(arguments, "topic").unwrap_or_default();
    let manual = quoted(arguments, "manual_id")
        .map_or_else(|| "all manuals".to_owned(), |id| format!("the manual {id}"));
    let argument =
        quoted(arguments, "manual_id").map(|id| format!(" with manual_id {id}")).unwrap_or_default();
    format!(
        "Read everything that {manual} of this server say about {topic}.\n\
         1. Call manual_find{argument} with the topic as query, goal \"everything\", three phrasings in the language and terms of the manual, and a hypothetical passage of one to three sentences.\n\
         2. Follow the next_actions of each reply until the action is stop. Read a place with manual_read before you rely on it.\n\
         3. Then page through manual_hits of the same trace for what was matched and not read, and read what belongs to the topic.\n\
         4. Answer with: the rules, each with its path and lines; the exceptions and conditions; the conflicts that were reported, with both sides; and what was not read, and why. \
         If the manuals do not say something, write that they do not, instead of guessing."
    )
}

fn audit_artifact(arguments: &HashMap<String, String>) -> String {
    let path = quoted(arguments, "path").unwrap_or_default();
    let source = quoted(arguments, "source_path").unwrap_or_default();
    format!(
        "Check the artifact {path} in the vault of this server against its source {source}.\n\
         1. Read the whole source with vault_scan, page by page, and the artifact with vault_read.\n\
         2. Call artifact_audit with artifact_path {path} and source_path {source}, and follow its next_actions until the action is stop.\n\
         3. Answer with a table: each finding with its line, what the artifact says, what the source says, and the correction. \
         Then say which lines of the source no element of the artifact cites. Change nothing before I agree."
    )
}

fn compare_editions(arguments: &HashMap<String, String>) -> String {
    let topic = quoted(arguments, "topic").unwrap_or_default();
    let one = quoted(arguments, "manual_id").unwrap_or_default();
    let other = quoted(arguments, "other_manual_id").unwrap_or_default();
    format!(
        "Compare what the manuals {one} and {other} of this server say about {topic}.\n\
         1. Call manual_find once with manual_id {one} and once with manual_id {other}, each with the topic as query, three phrasings and a hypothetical passage, and follow their next_actions until the action is stop.\n\
         2. Read each place with manual_read before you compare it.\n\
         3. Answer with a table: each rule, what the first manual says, what the second says, and where (path and lines); \
         then what stands in one of them only, and what neither says."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_names_what_was_given_and_quotes_it() {
        let given = |pairs: &[(&str, &str)]| -> HashMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let render = |name: &str, pairs: &[(&str, &str)]| {
            let prompt = PROMPTS.iter().find(|prompt| prompt.name == name).unwrap();
            prompt.render(&given(pairs)).unwrap()
        };
        let text = render("explore_topic", &[("topic", "有給\n\"繰越\""), ("manual_id", "hr")]);
        assert!(text.contains(r#"say about "有給\n\"繰越\"""#), "{text}");
        assert!(text.contains(r#"with manual_id "hr""#), "{text}");
        assert!(render("explore_topic", &[("topic", "x")]).contains("all manuals"));
        let text = render("audit_artifact", &[("path", "artifacts/a.md"), ("source_path", "b.md")]);
        assert!(text.contains(r#""artifacts/a.md""#) && text.contains(r#""b.md""#), "{text}");
        let text =
            render("compare_editions", &[("topic", "x"), ("manual_id", "v1"), ("other_manual_id", "v2")]);
        assert!(text.contains(r#"manual_id "v1""#) && text.contains(r#"manual_id "v2""#), "{text}");
    }
}
