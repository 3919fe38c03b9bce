//! What the routes share.

use std::sync::{Arc, LazyLock};

use annai_core::{Registry, ToolsetState};
use bytes::Bytes;
use http::HeaderMap;
use http::header::HOST;

use super::error::ApiError;
use crate::domain::tool_offers::ToolOffers;
use crate::runs::tool_offers;
use crate::services::Services;
use crate::toolset::{ServicesConfig, ServicesToolset};

/// The toolset, which the first request that needs it opens, and the tools that sponsors may buy.
#[derive(Clone)]
pub struct RestState {
    /// All tools that this server serves.
    pub registry: Arc<Registry>,
    /// Those of them that a sponsor may buy.
    pub tools: Arc<ToolOffers>,
    toolset: Arc<ToolsetState<ServicesToolset>>,
    openapi: Arc<LazyText>,
}

/// A text that the first request for it makes.
type LazyText = LazyLock<Bytes, Box<dyn FnOnce() -> Bytes + Send>>;

impl RestState {
    /// The state of the routes; `None` when the toolset is not served, or is a front of another server.
    /// `openapi` makes the document of the routes for the public URL.
    pub fn new(registry: &Arc<Registry>, openapi: fn(Option<&str>) -> String) -> Option<Self> {
        let toolset = registry.toolset::<ServicesToolset>()?;
        if toolset.config().section.backend_url.is_some() {
            return None;
        }
        let tools = Arc::new(tool_offers(registry, &toolset.config().section.tool_prices));
        let public_url = toolset.config().public_url.clone();
        let openapi: LazyText = LazyLock::new(Box::new(move || openapi(public_url.as_deref()).into()));
        Some(Self { registry: registry.clone(), tools, toolset, openapi: Arc::new(openapi) })
    }

    /// The document of the routes. It is the same for everybody, so it is made once.
    pub fn openapi(&self) -> Bytes {
        (*self.openapi).clone()
    }

    /// The settings.
    pub fn config(&self) -> &ServicesConfig {
        self.toolset.config()
    }

    /// The toolset, opened.
    pub async fn open(&self) -> Result<&Services, ApiError> {
        Ok(self.toolset.open().await?.local()?)
    }

    /// The URL of this server, without a slash at its end. Without a public one it is the host that the request names,
    /// which the server has checked.
    pub fn base_url(&self, headers: &HeaderMap) -> String {
        if let Some(url) = &self.config().public_url {
            return url.trim().trim_end_matches('/').to_owned();
        }
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        format!("http://{}", host.unwrap_or("localhost"))
    }
}
