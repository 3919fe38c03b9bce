//! Annai: one program that gives any AI client grounded help over MCP.
#![cfg_attr(
    not(unix),
    expect(dead_code, reason = "some functions are only for the commands of the library toolset")
)]

mod app;
mod catalog;
mod cli;
mod environment;
mod library;
mod options;
mod start;
mod toolset_name;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
