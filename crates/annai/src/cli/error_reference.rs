//! The page docs/errors.md. The prose is `error_reference.md`; the tables come from the toolsets.

use std::fmt::Write as _;

use crate::library;

/// The prose, with a line `{table NAME}` where a table belongs.
const PROSE: &str = include_str!("error_reference.md");

pub(super) fn page() -> String {
    let tables = [
        ("{table answers}\n", rpc_table(&annai_answers::error_reference::answer_errors())),
        ("{table search}\n", rpc_table(&annai_answers::error_reference::search_errors())),
        ("{table library}\n", library_table()),
        ("{table services}\n", services_table()),
    ];
    tables.iter().fold(PROSE.to_owned(), |page, (mark, table)| page.replace(mark, table))
}

fn rpc_table(rows: &[annai_answers::error_reference::ErrorRow]) -> String {
    let mut table = String::from("| code | message | `data` | what to do |\n|---|---|---|---|\n");
    for row in rows {
        let _ =
            writeln!(table, "| {} | `{}` | {} | {} |", row.code, row.message, names(&row.data), row.remedy);
    }
    table
}

fn library_table() -> String {
    let mut table = String::from("| code | when |\n|---|---|\n");
    for (kind, when) in library::error_reference::ERRORS {
        let _ = writeln!(table, "| `{}` | {when} |", kind.code());
    }
    table
}

fn services_table() -> String {
    let mut table = String::from("| status | code | `details` | when |\n|---|---|---|---|\n");
    for row in annai_services::error_reference::errors() {
        let _ =
            writeln!(table, "| {} | `{}` | {} | {} |", row.status, row.code, names(&row.details), row.when);
    }
    table
}

fn names(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_its_place() {
        let page = page();
        assert!(!page.contains("{table"), "{page}");
        assert!(page.matches("|---|").count() > PROSE.matches("|---|").count(), "{page}");
    }
}
