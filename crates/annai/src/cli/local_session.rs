//! Tool calls from the command line (`annai call`, `ask`, `find`, …), without a transport.

use std::sync::Arc;
use std::time::Duration;

use annai_core::{Call, FailedCall, Identity, JsonObject, Progress, Registry, Reply, ToolError};
use annai_server::process;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::app::App;
use crate::catalog;

/// How long the toolsets may take to close. Closing writes small files, so it takes milliseconds; a command should not keep
/// its user waiting for more than this.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The id of the calls of a command in the log.
const REQUEST_ID: &str = "cli";

/// The tools and an async runtime that runs them, for one command. The caller is the owner of the machine.
pub(super) struct LocalSession {
    runtime: Runtime,
    registry: Arc<Registry>,
}

impl LocalSession {
    /// Runs a command with the tools of the program, and closes the toolsets when it has finished or failed.
    pub(super) fn run<T>(app: &App, command: impl FnOnce(&Self) -> Result<T, Failure>) -> Result<T, Failure> {
        Self::run_with(catalog::registry(app)?, command)
    }

    /// The same with the tools of a registry.
    pub(super) fn run_with<T>(
        registry: Arc<Registry>,
        command: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let session = Self { runtime: Builder::new_multi_thread().enable_all().build()?, registry };
        let outcome = command(&session);
        session.close();
        outcome
    }

    /// The tools.
    pub(super) const fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Waits for work that needs the runtime.
    pub(super) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Calls a tool; `None` if no tool has this name.
    pub(super) fn try_call(
        &self,
        tool: &str,
        arguments: JsonObject,
        progress: Option<Progress>,
    ) -> Option<Result<Reply<Value>, FailedCall>> {
        let admitted = self.registry.admit(tool, &Identity::Owner).ok()?;
        let mut call = Call::new(REQUEST_ID);
        if let Some(progress) = progress {
            call.progress = progress;
        }
        Some(self.runtime.block_on(admitted.call(arguments, call)))
    }

    /// Calls a tool that a command is made of, and returns its structured result.
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        self.call_with_progress(tool, arguments, None)
    }

    /// The same, and shows the progress of the call.
    pub(super) fn call_with_progress(
        &self,
        tool: &str,
        arguments: &Value,
        progress: Option<Progress>,
    ) -> Result<Value, Failure> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        match self.try_call(tool, arguments, progress) {
            Some(Ok(reply)) => Ok(reply.output),
            Some(Err(failed)) => Err(failed_call(tool, &failed.error)),
            None => Err(Failure::usage(missing_tool(tool))),
        }
    }

    /// A token that is cancelled by the first signal to stop; a second signal calls `clean_up` and ends the process. The
    /// handlers stay in place until the process ends.
    pub(super) fn stop_on_signal(&self, clean_up: fn()) -> Result<CancellationToken, Failure> {
        Ok(self.runtime.block_on(async { process::stop_on_signal(clean_up) })?)
    }

    fn close(self) {
        let Self { runtime, registry } = self;
        let closed = runtime.block_on(async { tokio::time::timeout(CLOSE_TIMEOUT, registry.close()).await });
        if closed.is_err() {
            tracing::warn!("a toolset did not close in time");
        }
        // Does not wait for blocking work that a cancelled call has left behind.
        runtime.shutdown_background();
    }
}

/// The failure of a command because of a failed call.
pub(super) fn failed_call(tool: &str, error: &ToolError) -> Failure {
    let Failure { message, exit_code } = error.into();
    Failure { message: format!("{tool}: {message}"), exit_code }
}

/// Why a command cannot call a tool that it is made of.
pub(super) fn missing_tool(tool: &str) -> String {
    format!(
        "this command needs the tool {tool}, which is not among the chosen tools; change --toolset, --tools or \
         --read-only, or the settings server.tools and server.read_only"
    )
}
