//! The toolsets `answers` and `search`: grounded answers from the web, through OpenAI's Responses API.

mod answer_cache;
mod api_context;
mod check;
mod citations;
pub mod config;
mod dates;
mod domains;
pub mod error_reference;
mod errors;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod in_flight;
mod links;
mod plain_text;
mod policy;
mod question;
mod readable;
mod responses;
mod schema;
mod search_query;
mod search_triggers;
mod snippet;
mod source_list;
mod tools;
mod toolset;
mod unverified_links;
mod visible_text;
mod wire;
mod zone;

pub use check::check;
pub use config::AnswersSettings;
pub use policy::{SYSTEM_POLICY, SYSTEM_POLICY_REV};
pub use readable::readable;
pub use tools::{register_answers, register_search};
pub use toolset::{Answers, AnswersConfig, Search};
pub use zone::{MachineZoneError, Zone};
