//! The Responses API: requests, replies as JSON or as events, and one layer of retries.

mod client;
mod failure;
mod metrics;
mod private;
mod receive;
mod reply;
mod request;
mod retry;
mod step;
mod stream;
mod unsupported;

pub use client::{Ask, Client, Model};
pub use failure::{Cause, Failed};
pub use reply::{Link, Reading, Usage, read};
pub use request::{Request, Searching, Supports};
pub use retry::Patience;
pub use step::Step;
