//! The checks of `annai doctor`: the key, the connection to the API and the models.

use std::time::{Duration, SystemTime};

use annai_core::{Date, Finding};

use crate::config::AnswersSettings;
use crate::responses::{FailureKind, ListedModel, RequestFailure, ResponsesClient};
use crate::toolset::AnswersConfig;

/// The timeout for the list of models. It is a small reply, and a person is waiting; beyond it the API counts as
/// unreachable.
const MODELS_TIMEOUT: Duration = Duration::from_secs(15);
/// A model that is shut down within this many days is reported: long enough to plan a change of models.
const SHUTDOWN_WARNING_DAYS: u64 = 90;
/// The settings key of the search tool's model.
const O3_SEARCH: &str = "o3_search";

/// Checks what the answer tools need, what the search tool needs, or both.
pub async fn check(config: &AnswersConfig, answers: bool, search: bool) -> Vec<Finding> {
    let settings = &config.settings;
    let mut findings = Vec::new();
    match config.client() {
        Err(error) => {
            let error = error.to_string();
            let (problem, fix) = error.split_once("; ").unwrap_or((&error, "correct this setting"));
            findings.push(Finding::bad(format!("answers: {problem}"), fix));
        }
        Ok(client) => {
            let models = configured_models(settings).into_iter().filter(|(key, _)| match *key {
                O3_SEARCH => search,
                _ => answers,
            });
            let today = config.zone.date_at(SystemTime::now());
            findings.extend(check_models(&client, models.collect(), today).await);
        }
    }
    findings
}

/// Checks the connection and the configured models against the API's list of models.
async fn check_models(client: &ResponsesClient, configured: Vec<(&str, &str)>, today: Date) -> Vec<Finding> {
    let models = match client.models(MODELS_TIMEOUT).await {
        Ok(models) => models,
        Err(failure) => return vec![list_finding(client, &failure)],
    };
    let place = client.display_name();
    let list = format!("answers: the key is good; {place} offers {} models", models.len());
    let configured = configured.into_iter().map(|(key, model)| model_finding(key, model, &models, today));
    std::iter::once(Finding::good(list)).chain(configured).collect()
}

/// The finding when the list of models cannot be read.
fn list_finding(client: &ResponsesClient, failure: &RequestFailure) -> Finding {
    let fix = match (failure.kind, failure.status) {
        // Gateways need not have the list.
        (_, Some(404 | 405 | 501)) => {
            let place = client.display_name();
            return Finding::good(format!("answers: {place} is reachable, but has no list of models"));
        }
        (FailureKind::Connection | FailureKind::Timeout, _) => {
            "check the network, the proxy and openai.base_url"
        }
        (FailureKind::HttpStatus, Some(401 | 403)) => "create a new key, or grant this one the permission",
        _ => "try again later; annai --show-config shows where openai.base_url is set",
    };
    Finding::bad(format!("answers: {failure}"), fix)
}

/// The configured models, with their keys.
fn configured_models(settings: &AnswersSettings) -> Vec<(&'static str, &str)> {
    let profiles = &settings.model_profiles;
    let all = [
        ("model_profiles.answer", &profiles.answer),
        ("model_profiles.answer_detailed", &profiles.answer_detailed),
        ("model_profiles.answer_quick", &profiles.answer_quick),
    ];
    let named = all.into_iter().filter_map(|(key, profile)| Some((key, profile.as_ref()?.model.as_str())));
    named.chain([(O3_SEARCH, settings.o3_search.model.as_str())]).collect()
}

fn model_finding(key: &str, name: &str, models: &[ListedModel], today: Date) -> Finding {
    const FIX: &str = "choose another model";
    let Some(model) = models.iter().find(|model| model.id == name) else {
        return Finding::bad(
            format!("answers: {key}.model: {name} is not among the models of this key"),
            FIX,
        );
    };
    let date = model.shutdown_date.as_deref().and_then(|date| Date::parse(date.get(..10)?));
    match date {
        Some(date) if date < today => {
            Finding::bad(format!("answers: {key}.model: {name} was shut down on {date}"), FIX)
        }
        Some(date) if date.days() < today.days() + SHUTDOWN_WARNING_DAYS => {
            Finding::bad(format!("answers: {key}.model: {name} is shut down on {date}"), FIX)
        }
        Some(date) => Finding::good(format!("answers: {key}.model: {name} (until {date})")),
        None => Finding::good(format!("answers: {key}.model: {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_must_exist_and_last() {
        let model = |id: &str, date: Option<&str>| ListedModel {
            id: id.into(),
            shutdown_date: date.map(str::to_owned),
        };
        let models =
            [model("a", None), model("b", Some("2026-12-11")), model("c", Some("2028-01-01T00:00:00Z"))];
        let today = Date::parse("2026-11-16").unwrap();
        let finding = |name| model_finding("k", name, &models, today);
        assert_eq!(finding("a").fix, None);
        assert_eq!(finding("b").what, "answers: k.model: b is shut down on 2026-12-11");
        assert_eq!(finding("c").fix, None);
        assert!(finding("d").what.ends_with("d is not among the models of this key"));
    }
}
