//! Routes that cannot be added without the declaration of their operation.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodRouter, get, patch, post};

use super::super::state::RestState;
use super::operation::Operation;

/// A route as the document shows it.
pub struct Route {
    /// The method, in lower case.
    pub method: &'static str,
    /// The path, with its parameters in braces.
    pub path: &'static str,
    /// What it does.
    pub operation: Operation,
}

/// A router together with the declarations of its routes.
#[derive(Default)]
pub struct Routes {
    /// The router.
    pub router: Router<RestState>,
    /// The declarations.
    pub declared: Vec<Route>,
}

impl Routes {
    /// Adds a GET route.
    pub fn get<H: Handler<T, RestState>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        operation: Operation,
    ) -> Self {
        self.add("get", path, get(handler), operation)
    }

    /// Adds a POST route.
    pub fn post<H: Handler<T, RestState>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        operation: Operation,
    ) -> Self {
        self.add("post", path, post(handler), operation)
    }

    /// Adds a PATCH route.
    pub fn patch<H: Handler<T, RestState>, T: 'static>(
        self,
        path: &'static str,
        handler: H,
        operation: Operation,
    ) -> Self {
        self.add("patch", path, patch(handler), operation)
    }

    fn add(
        self,
        method: &'static str,
        path: &'static str,
        handler: MethodRouter<RestState>,
        operation: Operation,
    ) -> Self {
        let Self { router, mut declared } = self;
        declared.push(Route { method, path, operation });
        Self { router: router.route(path, handler), declared }
    }
}
