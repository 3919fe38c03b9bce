//! The errors of this crate for the documentation (`annai docs errors`). The rows are made by sending a sample of each error
//! through `crate::wire`, so that a page cannot name a code that clients never see.

use std::sync::Arc;
use std::time::Duration;

use annai_core::{Tool as _, ToolError, WireError};
use serde_json::Value;

use crate::errors::AnswersError;
use crate::responses::{FailureKind, RequestFailure};
use crate::tools::Answer;
use crate::wire;

/// An error as clients of the handshake era see it, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRow {
    /// The JSON-RPC error code.
    pub code: i32,
    /// The JSON-RPC error message.
    pub message: String,
    /// The names of the members of `data`.
    pub data: Vec<String>,
    /// What to do about it.
    pub remedy: &'static str,
}

/// The errors of `answer`, `answer_detailed` and `answer_quick`.
#[must_use]
pub fn answer_errors() -> Vec<ErrorRow> {
    let rows = samples().map(|sample| {
        let wire = wire::answers_error(false, &Answer::FACTS, &sample.error);
        row(wire, sample.answer_remedy)
    });
    merged(rows)
}

/// The errors of `chatgpt_o3_search`.
#[must_use]
pub fn search_errors() -> Vec<ErrorRow> {
    let rows = samples().map(|sample| row(wire::search_error(false, &sample.error), sample.search_remedy));
    merged(rows)
}

/// One error of this crate.
struct Sample {
    error: ToolError,
    answer_remedy: &'static str,
    search_remedy: &'static str,
}

fn samples() -> impl Iterator<Item = Sample> {
    let sample = |error, answer_remedy, search_remedy| Sample { error, answer_remedy, search_remedy };
    let key = AnswersError::KeyMissing {
        env: "OPENAI_API_KEY".to_owned(),
        problem: "OPENAI_API_KEY is not set".to_owned(),
    };
    let setting = AnswersError::Settings("policy.system.path: policy.md cannot be read".to_owned());
    let set_key = "Set the variable to a valid key in the environment of the server.";
    let correct_setting = "Correct the setting; `annai --show-config` says where it comes from.";
    [
        sample(
            ToolError::invalid("query is required"),
            "Correct the arguments; `reason` names each field.",
            "Correct the arguments; `details` names each field.",
        ),
        sample(key.into(), set_key, set_key),
        sample(
            AnswersError::ProfileMissing.into(),
            "Set the profile in the configuration file, where it is `null`.",
            "",
        ),
        sample(
            failed(401),
            "Read `reason`; the next table explains it.",
            "The API refused the key: correct it.",
        ),
        sample(
            failed(429),
            "",
            "Try again after `retryAfter` seconds; null where the API does not say. All retries have failed.",
        ),
        sample(failed(500), "", "The search failed, or the model made none. `details` says what happened."),
        sample(setting.into(), correct_setting, correct_setting),
        sample(
            ToolError::internal("a bug"),
            "Read the log of the server.",
            "Read the log of the server; `details` has the cause only in debug mode.",
        ),
    ]
    .into_iter()
}

fn failed(status: u16) -> ToolError {
    let failure = RequestFailure {
        status: Some(status),
        retry_after: (status == 429).then_some(Duration::from_secs(9)),
        ..RequestFailure::new(FailureKind::HttpStatus, "the API failed")
    };
    AnswersError::Request(Arc::new(failure)).into()
}

fn row(wire: WireError, remedy: &'static str) -> ErrorRow {
    match wire {
        WireError::Rpc { code, message, data } => {
            let data = data.as_ref().and_then(Value::as_object);
            let data = data.map(|members| members.keys().cloned().collect()).unwrap_or_default();
            ErrorRow { code, message, data, remedy }
        }
        // The toolsets of this crate answer with JSON-RPC errors only; anything else is shown as it is.
        WireError::Result { message, .. } | WireError::Http { message, .. } => {
            ErrorRow { code: 0, message, data: Vec::new(), remedy }
        }
    }
}

/// One row for each code and message, in the order of their first samples.
fn merged(rows: impl Iterator<Item = ErrorRow>) -> Vec<ErrorRow> {
    let mut merged: Vec<ErrorRow> = Vec::new();
    for row in rows {
        match merged.iter_mut().find(|known| known.code == row.code && known.message == row.message) {
            Some(known) => {
                known.data.extend(
                    row.data.into_iter().filter(|name| !known.data.contains(name)).collect::<Vec<_>>(),
                );
                if known.remedy.is_empty() {
                    known.remedy = row.remedy;
                }
            }
            None => merged.push(row),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_replaced_servers_has_a_row_with_a_remedy() {
        for (rows, codes) in [
            (answer_errors(), &[-32001, -32050, -32051, -32052, -32603][..]),
            (search_errors(), &[-32602, -32001, -32002, -32003, -32603][..]),
        ] {
            for code in codes {
                assert!(
                    rows.iter().any(|row| row.code == *code && !row.remedy.is_empty()),
                    "{code}: {rows:?}"
                );
            }
            assert!(rows.iter().all(|row| codes.contains(&row.code) && !row.remedy.is_empty()), "{rows:?}");
        }
        let failed = answer_errors().into_iter().find(|row| row.code == -32050).unwrap();
        assert_eq!(failed.message, "openai responses failed");
        assert!(
            ["retries", "reason", "status", "retry_after"]
                .iter()
                .all(|name| failed.data.iter().any(|data| data == name))
        );
    }
}
