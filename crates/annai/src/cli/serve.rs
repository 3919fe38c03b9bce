//! `annai --stdio`.

use annai_server::Handler;
use annai_server::stdio::{self, Options};
use tokio::runtime::Builder;

use super::{Failure, print_config};
use crate::app::App;
use crate::catalog::{self, Family};

pub(super) fn stdio(app: &App, chosen: &[Family]) -> Result<(), Failure> {
    if app.server.show_config_on_start {
        print_config(app)?;
    }
    let registry = app.registry()?;
    let options = Options::new(&app.server, registry.clone());
    let handler = Handler::new(registry, catalog::server_name(chosen));
    // One client, one thread: no hand-over between threads for every message, and no threads to start.
    // What a tool computes for long, it does on tokio's blocking threads.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(stdio::serve_process(handler, options));
    // A read of a terminal cannot be taken back; the process ends around it.
    runtime.shutdown_background();
    Ok(())
}
