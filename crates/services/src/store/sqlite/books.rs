//! The check that every budget balances.

use rusqlite::Connection;

use super::failure::Failure;
use crate::store::{BookViolation, BudgetOwner};

const CAMPAIGN_BOOKS: &str = "SELECT b.id, b.budget_total_cents, b.budget_remaining_cents,
     coalesce((SELECT sum(amount_cents) FROM payments p
               WHERE p.campaign_id = b.id AND p.source = 'sponsor' AND p.status = 'settled'), 0) AS settled,
     coalesce((SELECT sum(amount_cents) FROM reservations r WHERE r.campaign_id = b.id AND r.state = 'reserved'), 0)
         AS reserved,
     coalesce((SELECT sum(amount_cents) FROM adjustments a WHERE a.campaign_id = b.id), 0) AS adjusted
 FROM campaigns b";

const API_BOOKS: &str = "SELECT b.id, b.budget_total_cents, b.budget_remaining_cents,
     coalesce((SELECT sum(amount_cents) FROM sponsored_api_calls l
               WHERE l.sponsored_api_id = b.id AND l.payment_mode = 'sponsored'), 0) AS settled,
     coalesce((SELECT sum(amount_cents) FROM reservations r
               WHERE r.sponsored_api_id = b.id AND r.state = 'reserved'), 0) AS reserved,
     coalesce((SELECT sum(amount_cents) FROM adjustments a WHERE a.sponsored_api_id = b.id), 0) AS adjusted
 FROM sponsored_apis b";

pub fn check(connection: &Connection) -> Result<Vec<BookViolation>, Failure> {
    let mut violations = Vec::new();
    for (owner, books) in [(BudgetOwner::Campaign, CAMPAIGN_BOOKS), (BudgetOwner::SponsoredApi, API_BOOKS)] {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT * FROM ({books}) WHERE budget_remaining_cents < 0
             OR budget_total_cents <> budget_remaining_cents + settled + reserved + adjusted"
        ))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            violations.push(BookViolation {
                owner,
                id: row.get(0)?,
                budget_total_cents: row.get(1)?,
                budget_remaining_cents: row.get(2)?,
                settled_cents: row.get(3)?,
                reserved_cents: row.get(4)?,
                adjustments_cents: row.get(5)?,
            });
        }
    }
    Ok(violations)
}
