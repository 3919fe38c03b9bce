//! The REST routes, one file for each resource. The server merges them behind its door, which checks hosts and origins,
//! limits size and time, and recognises the owner of the machine.

mod auth;
mod body;
mod callers;
mod campaigns;
mod dashboard;
mod error;
mod gpt_gate;
#[cfg(test)]
pub mod hostile_requests;
mod idempotency;
mod objects_only;
mod openapi;
mod origin;
mod pages;
mod path;
mod preferences;
mod privacy;
mod query;
mod reply;
mod request_log;
mod routes;
mod run;
mod search;
mod session;
mod sponsored_apis;
mod state;
mod tasks;
mod user;

use std::sync::Arc;

use annai_core::Registry;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use serde_json::Value;

use self::state::RestState;

/// The routes of the toolset; `None` when the registry does not serve it. They share its state with the tools, and open it
/// with the first request that needs it. Those that run services are apart, because they wait for upstreams: the server
/// keeps places for calls of the others.
#[must_use]
pub fn routers(registry: &Arc<Registry>) -> Option<[Router; 2]> {
    let state = RestState::new(registry, openapi_yaml)?;
    let gate = from_fn_with_state(state.clone(), gpt_gate::pass);
    let [gpt, runs] = [routes::gpt(), routes::runs()].map(|gpt| gpt.router.route_layer(gate.clone()));
    let others = gpt.merge(routes::sponsors().router).merge(routes::pages().router);
    Some([others, runs].map(|routes| routes.route_layer(from_fn(request_log::log)).with_state(state.clone())))
}

/// The OpenAPI 3.1 document of the routes, for clients that reach them at this URL; `None` where it is the origin of the
/// document.
#[must_use]
pub fn openapi(public_url: Option<&str>) -> Value {
    openapi::document(routes::all(), public_url)
}

/// The same as YAML.
#[must_use]
pub fn openapi_yaml(public_url: Option<&str>) -> String {
    openapi::to_yaml(&openapi(public_url))
}
