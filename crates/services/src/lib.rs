//! The toolset `services`: paid services that sponsors make free for users who do a small task for them.
//!
//! [`domain`] has the rules, [`store`] keeps what they decide, [`runs`] runs services and moves the money.

pub mod address_range;
mod api_keys;
mod backend;
mod check;
pub mod clock;
pub mod config;
pub mod domain;
mod error;
pub mod error_reference;
#[cfg(test)]
mod hostile_input_tests;
mod people;
mod prompt;
mod rate_limit;
mod rest;
pub mod runs;
mod scopes;
mod services;
mod session_header;
pub mod store;
mod tools;
mod toolset;
pub mod upstream;
pub mod upstream_http;
mod widgets;

pub use check::check;
pub use config::{ServicesSection, ServicesSettings};
pub use error::ServicesError;
pub use rest::{openapi, openapi_yaml, routers};
pub use services::Services;
pub use tools::register;
pub use toolset::{ServicesConfig, ServicesToolset, inspect, start};
