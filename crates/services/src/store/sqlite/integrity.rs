//! The check of the rows and of the file itself.

use rusqlite::Connection;

use super::failure::Failure;
use crate::store::RowProblem;
use crate::store::integrity::{MAX_FOUND, checks};

/// Campaigns whose services are not those by which runs find them.
const TOOLS: &str = "SELECT id FROM campaigns c WHERE EXISTS (SELECT value FROM json_each(c.target_tools)
         EXCEPT SELECT tool FROM campaign_tools t WHERE t.campaign_id = c.id)
     OR EXISTS (SELECT tool FROM campaign_tools t WHERE t.campaign_id = c.id
         EXCEPT SELECT value FROM json_each(c.target_tools))";

pub fn check(connection: &Connection) -> Result<Vec<RowProblem>, Failure> {
    let mut problems = Vec::new();
    // SQLite's own check comes first: what it finds may make the other queries fail.
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MAX_FOUND})"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        if text != "ok" {
            problems.push(RowProblem(format!("the database file is damaged: {text}")));
        }
    }
    if !problems.is_empty() {
        return Ok(problems);
    }
    for check in checks("TRUE") {
        keys(connection, &check.query, |key| problems.push(check.problem(key)))?;
    }
    keys(connection, TOOLS, |campaign| {
        let problem = "has other services in target_tools than the table campaign_tools";
        problems.push(RowProblem(format!("the row {campaign} of the table campaigns {problem}")));
    })?;
    // What the constraints of the tables themselves say, where no rule above has said it.
    if problems.is_empty() {
        let query = format!(
            "SELECT \"table\" || ' names in a column a row of ' || parent FROM pragma_foreign_key_check LIMIT {MAX_FOUND}"
        );
        keys(connection, &query, |text| {
            problems.push(RowProblem(format!("a row of the table {text} that does not exist")));
        })?;
    }
    Ok(problems)
}

fn keys(connection: &Connection, query: &str, mut found: impl FnMut(&str)) -> Result<(), Failure> {
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found(row.get_ref(0)?.as_str().unwrap_or("without a key"));
    }
    Ok(())
}
