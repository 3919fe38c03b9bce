use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::domain::preferences::{PreferenceLevel, PreferenceLevels};
use crate::domain::search_index::search;

fn entry(name: &str, cost: i64, category: &[&str], tags: &[&str], task_type: &str) -> SearchEntry {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    SearchEntry {
        item: ServiceItem {
            service_type: ServiceType::Campaign,
            service_id: "1".into(),
            name: name.into(),
            sponsor: "Acme".into(),
            required_task: Some("アンケート".into()),
            subsidy_amount_cents: Cents::parse(cost).unwrap(),
            category: texts(category),
            service_keys: texts(category),
            active: true,
            tags: texts(tags),
            relevance_score: None,
        },
        task_type: Some(task_type.into()),
    }
}

fn entries() -> Vec<SearchEntry> {
    vec![
        entry("Web scraping", 50, &["scrape"], &["web", "data"], "survey"),
        entry("デザイン作成", 20, &["design"], &["画像"], "registration"),
        entry("Answers from the web", 0, &["answer", "search"], &["web"], "survey"),
    ]
}

fn run(query: Value, preferences: Option<&PreferenceLevels>) -> SearchReport {
    search(entries(), &serde_json::from_value(query).unwrap(), preferences)
}

fn names(report: &SearchReport) -> Vec<&str> {
    report.services.iter().map(|item| item.name.as_str()).collect()
}

fn levels(levels: &[(&str, PreferenceLevel)]) -> PreferenceLevels {
    levels.iter().map(|(task_type, level)| ((*task_type).to_owned(), *level)).collect()
}

#[test]
fn filters_are_combined_and_without_scores_the_order_is_kept() {
    let all = run(json!({}), None);
    assert_eq!(names(&all), ["Web scraping", "デザイン作成", "Answers from the web"]);
    assert_eq!((all.total_count, &all.applied_filters), (3, &None));
    assert!(all.services.iter().all(|item| item.relevance_score.is_none()));
    assert_eq!(names(&run(json!({ "q": "WEB" }), None)), ["Web scraping", "Answers from the web"]);
    assert_eq!(names(&run(json!({ "q": "acme" }), None)).len(), 3);
    assert_eq!(names(&run(json!({ "category": "SEARCH" }), None)), ["Answers from the web"]);
    assert_eq!(names(&run(json!({ "category": "sear" }), None)), [""; 0]);
    assert_eq!(names(&run(json!({ "q": "web", "category": "scrape" }), None)), ["Web scraping"]);
    assert_eq!(names(&run(json!({ "q": " ", "intent": "", "category": null }), None)).len(), 3);
}

#[test]
fn scores_are_as_the_contract_says() {
    let report = run(json!({ "max_budget_cents": 40 }), None);
    // 0.3 · (1 − cost / 40) + 0.4 · 0.5 + 0.3 · 0.5
    let scores: Vec<_> = report.services.iter().map(|item| item.relevance_score).collect();
    assert_eq!(names(&report), ["Answers from the web", "デザイン作成"]);
    assert_eq!(scores, [Some(0.65), Some(0.5)]);
    let report = run(json!({ "max_budget_cents": 0 }), None);
    assert_eq!(
        (names(&report), report.services[0].relevance_score),
        (vec!["Answers from the web"], Some(0.65))
    );

    // The intent is in the name and the tags: two of four fields.
    let report = run(json!({ "intent": "web" }), None);
    assert_eq!(report.services[0].relevance_score, Some(0.5));

    let preferences =
        levels(&[("survey", PreferenceLevel::Preferred), ("registration", PreferenceLevel::Avoided)]);
    let report = run(json!({}), Some(&preferences));
    assert_eq!(names(&report), ["Web scraping", "Answers from the web"]);
    assert_eq!(report.services[0].relevance_score, Some(0.65));
    assert!(report.applied_filters.unwrap().preferences_applied);
    let report = run(json!({}), Some(&PreferenceLevels::default()));
    assert!(!report.applied_filters.unwrap().preferences_applied);
}

#[test]
fn japanese_intents_find_without_spaces() {
    assert_eq!(names(&run(json!({ "intent": "デザインを頼みたい" }), None)), ["デザイン作成"]);
    assert_eq!(names(&run(json!({ "intent": "アンケートに答えるだけ" }), None)).len(), 3);
}

#[test]
fn a_search_without_a_result_says_what_to_relax() {
    let report = run(json!({ "q": "web", "category": "design" }), None);
    assert_eq!(
        report.message,
        "No service fits all filters. Try another or no `q`, or another or no `category`."
    );
    let report = run(json!({ "intent": "翻訳", "max_budget_cents": 100 }), None);
    assert_eq!(report.message, "No service fits all filters. Try another or no `intent`.");
    assert_eq!(report.available_categories.unwrap(), ["scrape", "design", "answer", "search"]);
    let report = run(json!({ "q": "none", "category": "none", "max_budget_cents": 1 }), None);
    assert_eq!(report.message, "No service fits all filters. Try with fewer of them.");
    assert_eq!(report.available_categories, None);
}

#[test]
fn optional_members_are_absent_and_nullable_ones_are_null() {
    let report = serde_json::to_value(run(json!({ "q": "デザ" }), None)).unwrap();
    assert_eq!(
        report,
        json!({
            "services": [{
                "service_type": "campaign", "service_id": "1", "name": "デザイン作成", "sponsor": "Acme",
                "required_task": "アンケート", "subsidy_amount_cents": 20, "category": ["design"],
                "service_keys": ["design"], "active": true, "tags": ["画像"], "relevance_score": null,
            }],
            "total_count": 1,
            "message": "1 service was found.",
        })
    );
}

#[test]
fn limits_are_checked_and_the_total_counts_all() {
    let report = run(json!({ "limit": 2 }), None);
    assert_eq!((report.services.len(), report.total_count), (2, 3));
    assert_eq!(report.message, "3 services were found; the first 2 are shown.");
    for wrong in [json!({ "limit": 0 }), json!({ "limit": 201 }), json!({ "q": "x".repeat(501) })] {
        assert!(serde_json::from_value::<SearchQuery>(wrong).is_err());
    }
}

proptest! {
    #[test]
    fn scores_are_between_zero_and_one_and_sorted(
        costs in proptest::collection::vec(0_i64..1000, 0..20),
        budget in 0_i64..1000,
        intent in "\\PC{1,10}",
        liked in 0_usize..3,
    ) {
        let entries: Vec<_> = costs.iter().map(|cost| entry("Web デザイン", *cost, &["a"], &[], "survey")).collect();
        let query = SearchQuery {
            max_budget_cents: Some(Cents::parse(budget).unwrap()),
            intent: Name::parse(intent).ok(),
            ..SearchQuery::default()
        };
        let level = [PreferenceLevel::Preferred, PreferenceLevel::Neutral, PreferenceLevel::Avoided][liked];
        let report = search(entries, &query, Some(&levels(&[("survey", level)])));
        let scores: Vec<f64> = report.services.iter().map(|item| item.relevance_score.unwrap()).collect();
        prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        prop_assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]));
        prop_assert!(report.services.iter().all(|item| item.subsidy_amount_cents.get() <= budget));
        prop_assert!(report.total_count >= report.services.len());
    }
}
