//! `annai token`: makes, lists and revokes the static tokens with which people use this server from other machines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use annai_core::Date;
use annai_server::tokens::{TokenFile, TokenFileError, TokenRecord};
use clap::Subcommand;
use serde_json::json;

use super::terminal::cell;
use super::{Failure, print};
use crate::app::App;
use crate::catalog;

/// The maximum length of a token's name in characters; more would not fit a list.
const MAX_NAME_CHARS: usize = 100;
const HOUR: u64 = 60 * 60;
/// The end of the year 9999, in seconds since 1970. Somebody may have edited the file.
const LAST_SECOND: u64 = 253_402_300_799;

const NEW_EXAMPLES: &str = "\
Examples:
  annai token new aiko --scope library.read
  annai token new backup --scope library.read,library.write --expires never

The file is server.token_file [env: ANNAI_TOKEN_FILE]; it holds SHA-256 digests.";
const LIST_EXAMPLES: &str = "\
Examples:
  annai token list
  annai token list --json";
const REVOKE_EXAMPLES: &str = "\
Examples:
  annai token revoke aiko
  annai token revoke backup";

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Make a token and print it; it is shown only once
    #[command(after_help = NEW_EXAMPLES)]
    New {
        /// What to call it, such as the person or machine that gets it
        name: String,
        /// answers.use, library.read, library.write or metrics.read; may be repeated. library.write includes reading the
        /// vault, but not the manuals: tools that copy from a manual need library.read too
        #[arg(long, value_name = "SCOPE", required = true, value_delimiter = ',')]
        scope: Vec<String>,
        /// When it expires, such as 12h, 90d, 2w or never
        #[arg(long, value_name = "TIME", default_value = "90d")]
        expires: String,
    },
    /// List the tokens with their ids, scopes, expiry and last use
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Print the tokens as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token; servers refuse it within a second
    #[command(after_help = REVOKE_EXAMPLES)]
    Revoke {
        /// The id or the name of the token
        token: String,
    },
}

pub(super) fn run(app: &App, command: &TokenCommand) -> Result<(), Failure> {
    let path = app.server.token_file.as_deref();
    let path = path.ok_or_else(|| Failure::usage("there is no data folder; set ANNAI_TOKEN_FILE or HOME"))?;
    let file = TokenFile::new(path);
    match command {
        TokenCommand::New { name, scope, expires } => new(app, &file, name, scope, expires),
        TokenCommand::List { json } => list(&file, *json),
        TokenCommand::Revoke { token } => {
            let revoked = file.revoke(token)?;
            Ok(print(&format!("Revoked {} ({}).\n", revoked.id, cell(&revoked.name)))?)
        }
    }
}

fn new(app: &App, file: &TokenFile, name: &str, scopes: &[String], expires: &str) -> Result<(), Failure> {
    check_name(name)?;
    let known = catalog::static_token_scopes(app)?;
    if let Some(unknown) = scopes.iter().find(|scope| !known.contains(&scope.as_str())) {
        let message = format!("--scope: expected one of {}, got \"{}\"", known.join(", "), cell(unknown));
        return Err(Failure::usage(message));
    }
    let now = seconds_since_1970();
    let expires_at = parse_expiry(expires)?.map(|lifetime| now + lifetime.as_secs());
    let scopes: BTreeSet<String> = scopes.iter().cloned().collect();
    let (record, token) = TokenRecord::create(name, scopes, now, expires_at).map_err(TokenFileError::from)?;
    let id = record.id.clone();
    file.add(record)?;
    // Only the token goes to stdout, so that a script can take it.
    let until =
        expires_at.map_or_else(|| "does not expire".to_owned(), |time| format!("expires {}", utc(time)));
    if !app.is_quiet {
        let _ = writeln!(
            io::stderr(),
            "Token {id} ({}) {until}. Copy it now: it is not stored and cannot be shown again.\n\
         Clients send it as the header: Authorization: Bearer TOKEN",
            cell(name)
        );
    }
    Ok(print(&format!("{token}\n"))?)
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_valid = !name.trim().is_empty()
        && name.chars().count() <= MAX_NAME_CHARS
        // Control characters, and marks that change the writing direction, could make a list lie.
        && cell(name) == name;
    if is_valid {
        return Ok(());
    }
    Err(Failure::usage(format!("NAME: expected 1 to {MAX_NAME_CHARS} characters without control characters")))
}

/// How long a token is valid; `None` for a token that does not expire.
fn parse_expiry(text: &str) -> Result<Option<Duration>, Failure> {
    if text == "never" {
        return Ok(None);
    }
    let hours = [("h", 1), ("d", 24), ("w", 7 * 24)].into_iter().find_map(|(unit, hours)| {
        let number = text.strip_suffix(unit)?;
        // At most ten years: five digits of hours.
        let number: u64 = number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?;
        number.checked_mul(hours).filter(|hours| (1..=10 * 366 * 24).contains(hours))
    });
    let hours = hours.ok_or_else(|| {
        Failure::usage(format!(
            "--expires: expected a time of at most ten years such as 12h, 90d or 2w, or never, got \"{}\"",
            cell(text)
        ))
    })?;
    Ok(Some(Duration::from_secs(hours * HOUR)))
}

fn list(file: &TokenFile, as_json: bool) -> Result<(), Failure> {
    let tokens = file.read().map_err(TokenFileError::from)?;
    let now = seconds_since_1970();
    // The last uses only inform; a damaged file must not hide the tokens.
    let uses = file.last_uses().unwrap_or_default();
    if as_json {
        let entries: Vec<_> = tokens.iter().map(|token| entry(token, &uses, now)).collect();
        return Ok(print(&format!("{:#}\n", json!({ "file": file.path(), "tokens": entries })))?);
    }
    if tokens.is_empty() {
        let path = file.path().display();
        return Ok(print(&format!(
            "No tokens in {path}. Make one: annai token new NAME --scope library.read\n"
        ))?);
    }
    let mut rows = vec![["ID", "NAME", "SCOPES", "EXPIRES", "LAST USE"].map(str::to_owned)];
    rows.extend(tokens.iter().map(|token| {
        let expires = match token.expires_at {
            None => "never".to_owned(),
            Some(_) if token.has_expired(now) => "expired".to_owned(),
            Some(time) => utc(time),
        };
        let scopes = token.scopes.iter().cloned().collect::<Vec<_>>().join(" ");
        let last_use = uses.get(&token.id).map_or_else(|| "never".to_owned(), |time| utc(*time));
        [cell(&token.id), cell(&token.name), cell(&scopes), expires, last_use].map(Into::into)
    }));
    Ok(print(&table(&rows))?)
}

fn entry(token: &TokenRecord, uses: &BTreeMap<String, u64>, now: u64) -> serde_json::Value {
    json!({
        "id": token.id,
        "name": token.name,
        "scopes": token.scopes,
        "created_at": rfc3339(token.created_at),
        "expires_at": token.expires_at.and_then(rfc3339),
        "expired": token.has_expired(now),
        "last_used_at": uses.get(&token.id).and_then(|time| rfc3339(*time)),
    })
}

/// Columns that are as wide as their widest cell, separated by two spaces.
fn table(rows: &[[String; 5]]) -> String {
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<_> = (0..5).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// A time for people: `2026-11-17 12:30 UTC`.
fn utc(seconds: u64) -> String {
    let Some(date) = date(seconds) else { return "after the year 9999".to_owned() };
    format!("{date} {:02}:{:02} UTC", seconds / HOUR % 24, seconds / 60 % 60)
}

/// A time for programs: `2026-11-17T12:30:00Z`; `None` after the year 9999.
fn rfc3339(seconds: u64) -> Option<String> {
    let time = format!("{:02}:{:02}:{:02}", seconds / HOUR % 24, seconds / 60 % 60, seconds % 60);
    Some(format!("{}T{time}Z", date(seconds)?))
}

fn date(seconds: u64) -> Option<Date> {
    (seconds <= LAST_SECOND).then(|| Date::in_utc(UNIX_EPOCH + Duration::from_secs(seconds)))
}

fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl From<TokenFileError> for Failure {
    fn from(error: TokenFileError) -> Self {
        match error {
            TokenFileError::DuplicateName(_) => Self::usage(error.to_string()),
            _ => Self::new(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_a_number_with_a_unit_or_never() {
        let hours = |text: &str| parse_expiry(text).unwrap().map(|lifetime| lifetime.as_secs() / HOUR);
        assert_eq!(hours("12h"), Some(12));
        assert_eq!(hours("90d"), Some(90 * 24));
        assert_eq!(hours("2w"), Some(14 * 24));
        assert_eq!(hours("never"), None);
        for text in [
            "",
            "90",
            "d",
            "0d",
            "-1d",
            "+1d",
            "1.5d",
            "90 d",
            "99999d",
            "99999999999999999999w",
            "1y",
            "Never",
        ] {
            assert!(parse_expiry(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_are_shown_in_utc() {
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(u64::MAX), "after the year 9999");
        assert_eq!(rfc3339(1_794_918_600).as_deref(), Some("2026-11-17T12:30:00Z"));
        assert_eq!(rfc3339(u64::MAX), None);
        assert_eq!(utc(1_794_918_600), "2026-11-17 12:30 UTC");
    }

    #[test]
    fn names_are_short_and_without_control_characters() {
        assert!(check_name("Aiko's laptop").is_ok() && check_name("愛子").is_ok());
        for name in ["", "  ", "a\nb", "a\u{1b}[31m", "\u{202e}evil", &"x".repeat(101)] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
