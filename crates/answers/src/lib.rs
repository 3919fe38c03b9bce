//! The toolsets `answers` and `search`: grounded answers from the web, through OpenAI's Responses API.

mod asking;
mod check;
mod citations;
pub mod config;
mod dates;
mod flight;
mod policy;
mod readable;
mod responses;
mod searching;
mod snippet;
mod sources;
mod tools;
mod toolset;
mod wire;

pub use check::check;
pub use config::AnswersSettings;
pub use policy::{SYSTEM_POLICY, SYSTEM_POLICY_REV};
pub use readable::readable;
pub use tools::{register_answers, register_search};
pub use toolset::{Answers, AnswersConfig, Search};
