//! `annai tools`: lists the tools as a table or as JSON.

use std::fmt::Write as _;

use annai_core::Identity;

use super::{Failure, print};
use crate::app::App;

pub(super) fn run(app: &App, json: bool) -> Result<(), Failure> {
    let registry = app.registry()?;
    if json {
        print(&format!("{}\n", String::from_utf8_lossy(&registry.list(&Identity::Owner))))?;
        return Ok(());
    }
    let rows: Vec<_> =
        registry.tools().map(|tool| (tool.facts.name, tool.toolset, tool.facts.title)).collect();
    let width = |of: &dyn Fn(&(&str, &str, &str)) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let (name_width, set_width) = (width(&|row| row.0.len()), width(&|row| row.1.len()));
    let mut table = String::new();
    for (name, toolset, title) in &rows {
        let _ = writeln!(table, "{name:name_width$}  {toolset:set_width$}  {title}");
    }
    let _ = writeln!(table, "{} tools", rows.len());
    print(&table)?;
    Ok(())
}
