//! The models, and the parameters that each of them supports.

use serde_json::Value;

use super::refusal::Refusal;
use super::schema::listed;

/// The available models, with the shutdown dates of those that have one.
pub(super) const MODELS: &[(&str, Option<&str>)] = &[
    ("gpt-6.1-terra", None),
    ("gpt-6.1-sol", None),
    ("gpt-6-luna", None),
    ("gpt-5-mini", Some("2026-12-11")),
    ("gpt-5", Some("2026-12-11")),
    ("gpt-5-nano", Some("2026-12-11")),
    ("o3", Some("2026-12-11")),
    ("o4-mini", None),
    ("gpt-4.1", None),
    ("gpt-4o", None),
];

/// The suffix of the dated snapshot that answers when a model is requested by its plain name.
pub(super) const SNAPSHOT: &str = "-2026-08-01";

/// Checks that the model exists and supports the parameters of the request.
pub(super) fn check_model(body: &Value) -> Result<(), Refusal> {
    let name = body["model"].as_str().unwrap_or_default();
    let is_deployment = ["azure-", "local-", "plain-"].iter().any(|prefix| name.starts_with(prefix));
    let model = name.strip_suffix(SNAPSHOT).unwrap_or(name);
    if !is_deployment && !MODELS.iter().any(|(known, _)| *known == model) {
        let is_retired = name == "gpt-4"
            || ["gpt-4-", "gpt-3.5-turbo", "o1-"].iter().any(|prefix| name.starts_with(prefix));
        let (status, message) = match is_retired {
            true => (404, format!("The model '{name}' has been shut down.")),
            false => (400, format!("The requested model '{name}' does not exist.")),
        };
        return Err(Refusal::new(status, message).code("model_not_found").param("model"));
    }
    check_reasoning(body, model, is_deployment)?;
    check_verbosity(body, model)
}

fn check_reasoning(body: &Value, model: &str, is_deployment: bool) -> Result<(), Refusal> {
    let has_no_reasoning = ["gpt-4.1", "gpt-4o"].contains(&model);
    if is_deployment || has_no_reasoning {
        let fields = ["effort", "summary", "generate_summary", "context", "mode"];
        let set = fields.iter().find(|field| !body["reasoning"][**field].is_null());
        return set.map_or(Ok(()), |field| Err(unsupported(&format!("reasoning.{field}"))));
    }
    let effort = body["reasoning"]["effort"].as_str().unwrap_or("medium");
    let supported: &[&str] = match model {
        "o3" | "o4-mini" => &["low", "medium", "high"],
        "gpt-5" | "gpt-5-mini" | "gpt-5-nano" => &["minimal", "low", "medium", "high"],
        _ => &["none", "minimal", "low", "medium", "high", "xhigh", "max"],
    };
    if !supported.contains(&effort) {
        return Err(unsupported_value("reasoning.effort", effort, model, supported));
    }
    let tools = body["tools"].as_array().into_iter().flatten();
    let mut search_tools =
        tools.filter_map(|tool| tool["type"].as_str()).filter(|kind| kind.starts_with("web_search"));
    if let Some(kind) = search_tools.next().filter(|_| effort == "minimal") {
        let message = format!("The following tools cannot be used with reasoning.effort 'minimal': {kind}.");
        return Err(Refusal::bad(message).param("tools"));
    }
    let sampling = ["temperature", "top_p"].iter().find(|field| !body[**field].is_null());
    match sampling.filter(|_| effort != "none") {
        Some(field) => Err(unsupported(field)),
        None => Ok(()),
    }
}

fn check_verbosity(body: &Value, model: &str) -> Result<(), Refusal> {
    let Some(verbosity) = body["text"]["verbosity"].as_str() else { return Ok(()) };
    let has_fixed_verbosity = ["o3", "o4-mini", "gpt-4.1", "gpt-4o"].contains(&model);
    if model.starts_with("plain-") {
        return Err(unsupported("text.verbosity"));
    }
    if has_fixed_verbosity && verbosity != "medium" {
        return Err(unsupported_value("text.verbosity", verbosity, model, &["medium"]));
    }
    Ok(())
}

fn unsupported(param: &str) -> Refusal {
    let message = format!("Unsupported parameter: '{param}' is not supported with this model.");
    Refusal::bad(message).code("unsupported_parameter").param(param)
}

fn unsupported_value(param: &str, value: &str, model: &str, supported: &[&str]) -> Refusal {
    let message = format!(
        "Unsupported value: '{value}' is not supported with the '{model}' model. Supported values are: {}.",
        listed(supported)
    );
    Refusal::bad(message).code("unsupported_value").param(param)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(body: Value) -> Result<(), (u16, String, String)> {
        check_model(&body).map_err(|refusal| {
            (refusal.status, refusal.code.unwrap_or_default(), refusal.param.unwrap_or_default())
        })
    }

    #[track_caller]
    fn assert_refused(body: Value, status: u16, code: &str, param: &str) {
        assert_eq!(checked(body), Err((status, code.to_owned(), param.to_owned())));
    }

    fn with_low_verbosity(model: &str) -> Value {
        json!({ "model": model, "text": { "verbosity": "low" } })
    }

    fn with_effort(model: &str, effort: &str) -> Value {
        json!({ "model": model, "reasoning": { "effort": effort } })
    }

    #[test]
    fn unknown_and_retired_models_are_rejected_and_deployments_are_not() {
        assert_refused(with_low_verbosity("gpt-3.5-turbo"), 404, "model_not_found", "model");
        assert_refused(with_low_verbosity("gpt-4"), 404, "model_not_found", "model");
        assert_refused(with_low_verbosity("gpt-7"), 400, "model_not_found", "model");
        assert_eq!(checked(with_low_verbosity("azure-mine")), Ok(()));
        assert_eq!(checked(with_low_verbosity("gpt-5-mini-2026-08-01")), Ok(()));
    }

    #[test]
    fn reasoning_effort_is_rejected_by_models_that_do_not_support_it() {
        for model in ["gpt-4.1", "azure-mine", "local-mine", "plain-mine"] {
            let mut body = with_effort(model, "low");
            body["text"] = json!({ "verbosity": "low" });
            assert_refused(body, 400, "unsupported_parameter", "reasoning.effort");
        }
        assert_refused(with_effort("o3", "minimal"), 400, "unsupported_value", "reasoning.effort");
        assert_refused(with_effort("gpt-5", "none"), 400, "unsupported_value", "reasoning.effort");
        assert_eq!(checked(with_effort("gpt-6.1-sol", "none")), Ok(()));
        let mut searching = with_effort("gpt-5", "minimal");
        assert_eq!(checked(searching.clone()), Ok(()));
        searching["tools"] = json!([{ "type": "web_search" }]);
        assert_refused(searching, 400, "", "tools");
    }

    #[test]
    fn verbosity_is_rejected_by_models_that_do_not_support_it() {
        assert_refused(with_low_verbosity("plain-mine"), 400, "unsupported_parameter", "text.verbosity");
        assert_refused(with_low_verbosity("o3"), 400, "unsupported_value", "text.verbosity");
        assert_eq!(checked(json!({ "model": "o3", "text": { "verbosity": "medium" } })), Ok(()));
    }

    #[test]
    fn a_reasoning_model_rejects_a_temperature() {
        let mut body = json!({ "model": "gpt-6.1-sol", "temperature": 0.5 });
        assert_refused(body.clone(), 400, "unsupported_parameter", "temperature");
        body["reasoning"] = json!({ "effort": "none" });
        assert_eq!(checked(body), Ok(()));
        assert_eq!(checked(json!({ "model": "gpt-4o", "temperature": 0.5 })), Ok(()));
    }
}
