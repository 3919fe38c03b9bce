//! What must hold for any request.

use serde::de::DeserializeOwned;

use super::body::parse;
use super::query::Query;
use crate::domain::campaign::CampaignDraft;
use crate::domain::search::SearchQuery;
use crate::domain::search_index::search;
use crate::domain::sponsored_api::{SponsoredApiDraft, SponsoredApiPatch};
use crate::domain::text::FieldError;

/// The longest error in characters: a field, a problem, and what is put around what the caller sent.
const MAX_ERROR_CHARS: usize = 1000;

/// A body and a query string: each is read, or refused with a short error that names a field.
pub fn check_request(input: &str) {
    check_body::<CampaignDraft>(input);
    check_body::<SponsoredApiDraft>(input);
    check_body::<SponsoredApiPatch>(input);
    match Query::parse(input).and_then(Query::read::<SearchQuery>) {
        Ok(query) => {
            let report = search(Vec::new(), &query, None);
            assert_eq!((report.total_count, report.services.len()), (0, 0));
        }
        Err(error) => check_error(&error),
    }
}

fn check_body<T: DeserializeOwned>(input: &str) {
    if let Err(error) = parse::<T>(input.as_bytes()) {
        check_error(&error);
    }
}

fn check_error(error: &FieldError) {
    assert!(!error.field.is_empty() && !error.problem.is_empty());
    assert!(error.to_string().chars().count() <= MAX_ERROR_CHARS, "{error}");
}
