//! What `annai doctor` wants to know: the key, the address, the models.

use std::time::{Duration, SystemTime};

use annai_core::{Date, Finding};

use crate::config::AnswersSettings;
use crate::policy;
use crate::responses::{Cause, Client, Failed, Model};
use crate::toolset::AnswersConfig;

const TIMEOUT: Duration = Duration::from_secs(15);
/// A model that ends within so many days is worth a word.
const SOON_DAYS: u64 = 90;

/// Looks at what the answers tools need, the search tool, or both.
pub async fn check(config: &AnswersConfig, answers: bool, search: bool) -> Vec<Finding> {
    let settings = &config.settings;
    let mut findings = Vec::new();
    if answers && let Err(problem) = policy::instructions(&settings.policy, &config.folder) {
        let fix = "correct the path, or set policy.system.source: builtin";
        findings.push(Finding::bad(format!("answers: {problem}"), fix));
    }
    match config.client() {
        Err(error) => {
            let (what, fix) =
                error.message().split_once("; ").unwrap_or((error.message(), "correct it where it is set"));
            findings.push(Finding::bad(format!("answers: {what}"), fix));
        }
        Ok(client) => {
            let models = configured(settings).into_iter().filter(|(key, _)| match *key {
                O3_SEARCH => search,
                _ => answers,
            });
            findings.extend(ask(&client, models.collect()).await);
        }
    }
    findings
}

async fn ask(client: &Client, configured: Vec<(&str, &str)>) -> Vec<Finding> {
    let models = match client.models(TIMEOUT).await {
        Ok(models) => models,
        // Gateways need not have the list.
        Err(Failed { status: Some(404 | 405 | 501), .. }) => {
            return vec![Finding::good(format!(
                "answers: {} answers, and has no list of models",
                client.place()
            ))];
        }
        Err(failed) => {
            let fix = match failed.cause {
                Cause::Unreachable | Cause::TimedOut => "check the network, the proxy and openai.base_url",
                Cause::Refused if matches!(failed.status, Some(401 | 403)) => {
                    "make a new key, or give this one the permission"
                }
                _ => "try again later; annai --show-config says where openai.base_url comes from",
            };
            return vec![Finding::bad(format!("answers: {}", failed.reason()), fix)];
        }
    };
    let offers = format!("answers: the key is good; {} offers {} models", client.place(), models.len());
    let today = Date::in_tokyo(SystemTime::now());
    let judged = configured.into_iter().map(|(key, model)| judge(key, model, &models, today));
    std::iter::once(Finding::good(offers)).chain(judged).collect()
}

const O3_SEARCH: &str = "o3_search";

/// The models that the settings name, by their keys.
fn configured(settings: &AnswersSettings) -> Vec<(&'static str, &str)> {
    let profiles = &settings.model_profiles;
    let all = [
        ("model_profiles.answer", &profiles.answer),
        ("model_profiles.answer_detailed", &profiles.answer_detailed),
        ("model_profiles.answer_quick", &profiles.answer_quick),
    ];
    let named = all.into_iter().filter_map(|(key, profile)| Some((key, profile.as_ref()?.model.as_str())));
    named.chain([(O3_SEARCH, settings.o3_search.model.as_str())]).collect()
}

fn judge(key: &str, name: &str, models: &[Model], today: Date) -> Finding {
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
        Some(date) if date.days() < today.days() + SOON_DAYS => {
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
        let model =
            |id: &str, date: Option<&str>| Model { id: id.into(), shutdown_date: date.map(str::to_owned) };
        let models =
            [model("a", None), model("b", Some("2026-12-11")), model("c", Some("2028-01-01T00:00:00Z"))];
        let today = Date::parse("2026-11-16").unwrap();
        let judged = |name| judge("k", name, &models, today);
        assert_eq!(judged("a").fix, None);
        assert_eq!(judged("b").what, "answers: k.model: b is shut down on 2026-12-11");
        assert_eq!(judged("c").fix, None);
        assert!(judged("d").what.ends_with("d is not among the models of this key"));
    }
}
