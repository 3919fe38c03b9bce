//! What a request to the API needs. Calls and requests in flight share it.

use std::sync::Arc;
use std::time::Duration;

use crate::config::AnswersSettings;
use crate::responses::{ResponsesClient, RetryPolicy};
use crate::zone::Zone;

/// The delay before the first retry of an answer tool; as in `openai-responses-mcp`.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(500);

/// The settings, the instructions and the client.
pub struct ApiContext {
    /// The settings of this crate.
    pub settings: Arc<AnswersSettings>,
    /// The instructions for the model.
    pub instructions: String,
    /// The client of the API.
    pub client: ResponsesClient,
    /// The time zone of a person whose call names none.
    pub zone: Zone,
}

impl ApiContext {
    /// The timeout and the retries of an answer tool.
    pub fn retry_policy(&self) -> RetryPolicy {
        let request = &self.settings.request;
        RetryPolicy {
            timeout: Duration::from_millis(request.timeout_ms),
            max_retries: request.max_retries,
            first_delay: FIRST_RETRY_DELAY,
            retry_timeouts: request.retry_timeouts,
        }
    }
}
