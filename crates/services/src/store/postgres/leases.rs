//! Leases: how living runs show that they live, and how the others are released.

use jiff::Timestamp;

use super::connection::PostgresConnection;
use super::failure::Failure;
use super::keys::lock_key;
use super::settle::release_abandoned;
use crate::domain::ids::{CampaignId, ReservationId, SponsoredApiId, UserId};
use crate::store::Lease;
use crate::store::movements::Moved;

/// A part of a statement that lets its transaction end without waiting for the disk: its loss in a crash of the server would
/// do no harm.
const RELAXED: &str = "FROM (SELECT set_config('synchronous_commit', 'off', true)) AS relaxed";

pub async fn mark_dispatched(
    connection: &PostgresConnection<'_>,
    reservation: ReservationId,
) -> Result<bool, Failure> {
    let statement = format!(
        "UPDATE reservations SET is_dispatched = true, lease_counter = lease_counter + 1 {RELAXED}
         WHERE id = $1 AND state = 'reserved'"
    );
    Ok(connection.execute(&statement, &[&reservation]).await? == 1)
}

pub async fn renew(
    connection: &PostgresConnection<'_>,
    reservations: &[ReservationId],
) -> Result<(), Failure> {
    let statement = format!(
        "UPDATE reservations SET lease_counter = lease_counter + 1 {RELAXED}
         WHERE id = ANY ($1) AND state = 'reserved'"
    );
    connection.execute(&statement, &[&reservations]).await?;
    Ok(())
}

pub async fn living(connection: &PostgresConnection<'_>) -> Result<Vec<Lease>, Failure> {
    let query = "SELECT id, lease_counter FROM reservations WHERE state = 'reserved'";
    let rows = connection.rows(query, &[]).await?;
    rows.iter().map(|row| Ok(Lease { id: row.try_get(0)?, counter: row.try_get(1)? })).collect()
}

/// Releases the attempts whose counter is still the same. Those that somebody is settling or sweeping at this moment are
/// skipped. All locks are taken in the order of every other use case, so that none waits for another in a circle: the
/// attempts, their keys, their budgets.
pub async fn release_expired(
    connection: &PostgresConnection<'_>,
    leases: &[Lease],
    now: Timestamp,
) -> Result<Moved<usize>, Failure> {
    let ids: Vec<ReservationId> = leases.iter().map(|lease| lease.id).collect();
    let counters: Vec<i64> = leases.iter().map(|lease| lease.counter).collect();
    let rows = connection
        .rows(
            "SELECT r.id, r.user_id, r.idempotency_key, r.campaign_id, r.sponsored_api_id
             FROM reservations r JOIN unnest($1::uuid[], $2::bigint[]) AS ended (id, counter) ON ended.id = r.id
             WHERE r.state = 'reserved' AND r.lease_counter = ended.counter
             ORDER BY r.user_id, r.idempotency_key FOR UPDATE OF r SKIP LOCKED",
            &[&ids, &counters],
        )
        .await?;
    let (mut campaigns, mut apis): (Vec<CampaignId>, Vec<SponsoredApiId>) = Default::default();
    for row in &rows {
        lock_key(connection, row.try_get::<_, UserId>(1)?, row.try_get(2)?).await?;
        campaigns.extend(row.try_get::<_, Option<CampaignId>>(3)?);
        apis.extend(row.try_get::<_, Option<SponsoredApiId>>(4)?);
    }
    // The order in which reserving tries them.
    let lock =
        "SELECT id FROM campaigns WHERE id = ANY ($1) ORDER BY created_at DESC, id DESC FOR NO KEY UPDATE";
    connection.rows(lock, &[&campaigns]).await?;
    let lock = "SELECT id FROM sponsored_apis WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE";
    connection.rows(lock, &[&apis]).await?;
    let mut released = Moved::nothing(rows.len());
    for row in &rows {
        released = released.and(release_abandoned(connection, row.try_get(0)?, now).await?);
    }
    Ok(released)
}
