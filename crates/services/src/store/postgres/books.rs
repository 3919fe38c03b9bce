//! The check that every budget balances.

use super::connection::PostgresConnection;
use super::failure::Failure;
use crate::store::{BookViolation, BudgetOwner};

const CAMPAIGN_BOOKS: &str = "SELECT b.id, b.budget_total_cents, b.budget_remaining_cents,
     (SELECT coalesce(sum(amount_cents), 0)::bigint FROM payments p
      WHERE p.campaign_id = b.id AND p.source = 'sponsor' AND p.status = 'settled') AS settled,
     (SELECT coalesce(sum(amount_cents), 0)::bigint FROM reservations r
      WHERE r.campaign_id = b.id AND r.state = 'reserved') AS reserved,
     (SELECT coalesce(sum(amount_cents), 0)::bigint FROM adjustments a WHERE a.campaign_id = b.id) AS adjusted
 FROM campaigns b";

const API_BOOKS: &str = "SELECT b.id, b.budget_total_cents, b.budget_remaining_cents,
     (SELECT coalesce(sum(amount_cents), 0)::bigint FROM sponsored_api_calls l
      WHERE l.sponsored_api_id = b.id AND l.payment_mode = 'sponsored') AS settled,
     (SELECT coalesce(sum(amount_cents), 0)::bigint FROM reservations r
      WHERE r.sponsored_api_id = b.id AND r.state = 'reserved') AS reserved,
     (SELECT coalesce(sum(amount_cents), 0)::bigint FROM adjustments a WHERE a.sponsored_api_id = b.id) AS adjusted
 FROM sponsored_apis b";

pub async fn check(connection: &PostgresConnection<'_>) -> Result<Vec<BookViolation>, Failure> {
    let mut violations = Vec::new();
    for (owner, books) in [(BudgetOwner::Campaign, CAMPAIGN_BOOKS), (BudgetOwner::SponsoredApi, API_BOOKS)] {
        let query = format!(
            "SELECT id, budget_total_cents, budget_remaining_cents, settled, reserved, adjusted FROM ({books}) AS books
             WHERE budget_remaining_cents < 0
             OR budget_total_cents <> budget_remaining_cents + settled + reserved + adjusted"
        );
        for row in connection.rows(&query, &[]).await? {
            violations.push(BookViolation {
                owner,
                id: row.try_get::<_, uuid::Uuid>(0)?.to_string(),
                budget_total_cents: row.try_get(1)?,
                budget_remaining_cents: row.try_get(2)?,
                settled_cents: row.try_get(3)?,
                reserved_cents: row.try_get(4)?,
                adjustments_cents: row.try_get(5)?,
            });
        }
    }
    Ok(violations)
}
