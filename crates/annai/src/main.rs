//! Annai: one program that gives any AI client grounded help over MCP.

mod app;
mod catalog;
mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
