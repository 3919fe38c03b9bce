//! The replies of the routes: JSON.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde::Serialize;

/// A reply with status 200.
pub struct Json<T>(pub T);

/// A reply with status 201.
pub struct Created<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        json(StatusCode::OK, &self.0)
    }
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        json(StatusCode::CREATED, &self.0)
    }
}

/// A response with a JSON body.
#[expect(clippy::expect_used, reason = "the replies are our own types, whose maps have texts as keys")]
pub fn json(status: StatusCode, body: &impl Serialize) -> Response {
    let body = serde_json::to_vec(body).expect("replies serialize");
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
