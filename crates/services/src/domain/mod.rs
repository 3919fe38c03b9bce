//! The rules of sponsored services as pure functions and types. Nothing here knows a database, a clock or a network.

pub mod campaign;
pub mod catalog;
pub mod consent;
pub mod email;
pub mod idempotency;
pub mod ids;
pub mod keywords;
pub mod limits;
pub mod matching;
pub mod money;
pub mod preferences;
pub mod reservation;
pub mod roles;
pub mod search;
pub mod search_index;
pub mod service;
pub mod sponsored_api;
pub mod task;
pub mod task_schema;
pub mod text;
pub mod tool_offers;
pub mod user;
