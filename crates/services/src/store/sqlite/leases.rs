//! Leases: how living runs show that they live, and how the others are released.

use jiff::Timestamp;
use rusqlite::{Connection, Transaction, params};

use super::failure::Failure;
use super::rows::id;
use super::settle::release_abandoned;
use crate::domain::ids::ReservationId;
use crate::store::Lease;
use crate::store::movements::Moved;

pub fn mark_dispatched(transaction: &Transaction<'_>, reservation: ReservationId) -> Result<bool, Failure> {
    let changed = transaction
        .prepare_cached(
            "UPDATE reservations SET is_dispatched = 1, lease_counter = lease_counter + 1
             WHERE id = ?1 AND state = 'reserved'",
        )?
        .execute([reservation.to_string()])?;
    Ok(changed == 1)
}

pub fn renew(transaction: &Transaction<'_>, reservations: &[ReservationId]) -> Result<(), Failure> {
    let mut renew = transaction.prepare_cached(
        "UPDATE reservations SET lease_counter = lease_counter + 1 WHERE id = ?1 AND state = 'reserved'",
    )?;
    for reservation in reservations {
        renew.execute([reservation.to_string()])?;
    }
    Ok(())
}

pub fn living(connection: &Connection) -> Result<Vec<Lease>, Failure> {
    let mut statement =
        connection.prepare_cached("SELECT id, lease_counter FROM reservations WHERE state = 'reserved'")?;
    let mut rows = statement.query([])?;
    let mut leases = Vec::new();
    while let Some(row) = rows.next()? {
        let id = id(ReservationId::parse(&row.get::<_, String>(0)?))?;
        leases.push(Lease { id, counter: row.get(1)? });
    }
    Ok(leases)
}

pub fn release_expired(
    transaction: &Transaction<'_>,
    leases: &[Lease],
    now: Timestamp,
) -> Result<Moved<usize>, Failure> {
    let mut released = Moved::nothing(0);
    for Lease { id, counter } in leases {
        let is_unchanged = transaction
            .prepare_cached(
                "SELECT 1 FROM reservations WHERE id = ?1 AND state = 'reserved' AND lease_counter = ?2",
            )?
            .exists(params![id.to_string(), counter])?;
        if is_unchanged {
            released = released.and(release_abandoned(transaction, *id, now)?);
            released.value += 1;
        }
    }
    Ok(released)
}
