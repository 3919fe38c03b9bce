//! The rules of rows that both databases check with the same queries.

use super::RowProblem;

/// How many rows that break one rule are named; a database with more of them has one cause for all.
pub const MAX_FOUND: usize = 100;

/// A rule as a query whose rows break it: the table, the row, and what is wrong with it.
struct Rule {
    /// What is wrong, in words that continue `the row … of the table …`.
    problem: &'static str,
    /// The table.
    table: &'static str,
    /// The query: one column with the key of each wrong row as text.
    query: &'static str,
}

const fn rule(table: &'static str, problem: &'static str, query: &'static str) -> Rule {
    Rule { problem, table, query }
}

/// The tables with amounts, their keys, and their amounts. All but adjustments are never negative, except in a database that
/// was taken over, whose budgets `annai campaigns --check` reports by themselves.
const AMOUNTS: [(&str, &str, &str); 9] = [
    ("campaigns", "id", "subsidy_per_call_cents"),
    ("campaigns", "id", "budget_total_cents"),
    ("campaigns", "id", "budget_remaining_cents"),
    ("sponsored_apis", "id", "price_cents"),
    ("sponsored_apis", "id", "budget_total_cents"),
    ("sponsored_apis", "id", "budget_remaining_cents"),
    ("sponsored_api_calls", "id", "amount_cents"),
    ("payments", "tx_hash", "amount_cents"),
    ("reservations", "id", "amount_cents"),
];

/// The largest amount of a row that sums can contain thousands of. This program writes at most 10^12 cents.
const MAX_AMOUNT: i64 = 1_000_000_000_000_000;

/// The columns that name a row of another table: table, key, column, and the other table with its key.
const REFERENCES: [(&str, &str, &str, &str, &str); 19] = [
    ("user_emails", "email_lower", "user_id", "users", "id"),
    ("identities", "subject", "user_id", "users", "id"),
    ("gpt_sessions", "user_id", "user_id", "users", "id"),
    ("sponsored_api_calls", "id", "sponsored_api_id", "sponsored_apis", "id"),
    ("task_completions", "id", "campaign_id", "campaigns", "id"),
    ("task_completions", "id", "user_id", "users", "id"),
    ("task_claims", "task_completion_id", "campaign_id", "campaigns", "id"),
    ("task_claims", "task_completion_id", "user_id", "users", "id"),
    ("task_claims", "task_completion_id", "task_completion_id", "task_completions", "id"),
    ("consents", "id", "campaign_id", "campaigns", "id"),
    ("consents", "id", "user_id", "users", "id"),
    ("user_task_preferences", "id", "user_id", "users", "id"),
    ("payments", "tx_hash", "campaign_id", "campaigns", "id"),
    ("reservations", "id", "campaign_id", "campaigns", "id"),
    ("reservations", "id", "sponsored_api_id", "sponsored_apis", "id"),
    ("reservations", "id", "user_id", "users", "id"),
    ("idempotency_keys", "tx_hash", "user_id", "users", "id"),
    ("adjustments", "id", "campaign_id", "campaigns", "id"),
    ("adjustments", "id", "sponsored_api_id", "sponsored_apis", "id"),
];

/// The rules of money: what was paid is what was called, and what was reserved is what was run. `{new}` is the condition that
/// this program wrote the row `w`: the system before it kept other books.
const RULES: [Rule; 7] = [
    rule(
        "sponsored_api_calls",
        "has no settled payment of the same amount from the budget of the sponsored API",
        "SELECT w.id FROM sponsored_api_calls w WHERE w.payment_mode = 'sponsored' AND {new}
         AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.tx_hash = w.tx_hash AND p.status = 'settled'
             AND p.campaign_id IS NULL AND p.amount_cents = w.amount_cents)",
    ),
    rule(
        "payments",
        "is settled without a campaign, but no call of a sponsored API has its tx_hash and amount",
        "SELECT w.tx_hash FROM payments w
         WHERE w.status = 'settled' AND w.source = 'sponsor' AND w.campaign_id IS NULL AND {new}
         AND (w.tx_hash, w.amount_cents) NOT IN (SELECT tx_hash, amount_cents FROM sponsored_api_calls
             WHERE payment_mode = 'sponsored' AND tx_hash IS NOT NULL)",
    ),
    rule(
        "sponsored_api_calls",
        "has the tx_hash of another call, so it was counted twice",
        "SELECT max(CAST(w.id AS text)) FROM sponsored_api_calls w WHERE w.tx_hash IS NOT NULL AND {new}
         GROUP BY w.tx_hash HAVING count(*) > 1",
    ),
    rule(
        "reservations",
        "is settled, but no settled payment has its tx_hash, amount and campaign",
        "SELECT w.id FROM reservations w WHERE w.state = 'settled' AND NOT EXISTS (SELECT 1 FROM payments p
             WHERE p.tx_hash = w.tx_hash AND p.status = 'settled' AND p.amount_cents = w.amount_cents
             AND p.campaign_id IS NOT DISTINCT FROM w.campaign_id)",
    ),
    rule(
        "reservations",
        "is settled, and so is another one of the same payment",
        "SELECT max(CAST(w.id AS text)) FROM reservations w WHERE w.state = 'settled'
         GROUP BY w.tx_hash HAVING count(*) > 1",
    ),
    rule(
        "idempotency_keys",
        "has the result of a run that no payment records",
        "SELECT w.tx_hash FROM idempotency_keys w WHERE w.output IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.tx_hash = w.tx_hash)",
    ),
    rule(
        "task_claims",
        "names the completion of another campaign",
        "SELECT w.task_completion_id FROM task_claims w JOIN task_completions f ON f.id = w.task_completion_id
         WHERE f.campaign_id <> w.campaign_id",
    ),
];

/// A rule as a query that finds the keys of at most [`MAX_FOUND`] rows that break it, as texts.
pub struct Check {
    /// The query.
    pub query: String,
    table: &'static str,
    problem: String,
}

impl Check {
    fn new(table: &'static str, query: &str, problem: String) -> Self {
        let query = format!("SELECT CAST(row_key AS text) FROM ({query}) AS found LIMIT {MAX_FOUND}");
        Self { query, table, problem }
    }

    /// What is wrong with a row that the query found.
    pub fn problem(&self, row: &str) -> RowProblem {
        RowProblem(format!("the row {row} of the table {} {}", self.table, self.problem))
    }
}

/// All checks. `is_new` is the condition that this program wrote the row `w`.
pub fn checks(is_new: &str) -> Vec<Check> {
    let amounts = AMOUNTS.into_iter().map(|(table, key, column)| {
        let query = format!(
            "SELECT {key} AS row_key FROM {table} WHERE {column} NOT BETWEEN -{MAX_AMOUNT} AND {MAX_AMOUNT}"
        );
        Check::new(table, &query, format!("has an impossible amount in {column}"))
    });
    let references = REFERENCES.into_iter().map(|(table, key, column, other, other_key)| {
        let query = format!(
            "SELECT {key} AS row_key FROM {table} WHERE {column} IS NOT NULL
             AND {column} NOT IN (SELECT {other_key} FROM {other})"
        );
        Check::new(table, &query, format!("names in {column} a row of {other} that does not exist"))
    });
    let rules = RULES.iter().map(|Rule { table, problem, query }| {
        let query = query.replace("{new}", is_new).replacen(" FROM", " AS row_key FROM", 1);
        Check::new(table, &query, (*problem).to_owned())
    });
    amounts.chain(references).chain(rules).collect()
}
