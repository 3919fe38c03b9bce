//! Settling and releasing an attempt. Both name its row and need its state, so that no attempt can touch another's.

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::failure::Failure;
use super::reserve::{AttemptRow, insert, stored_result, take};
use super::rows::{cents, id};
use crate::domain::ids::{CampaignId, ReservationId, SponsoredApiId, TxHash};
use crate::domain::matching::Payer;
use crate::domain::reservation::{
    Dispatch, ReleaseStep, ReservationState, SettleStep, release_step, settle_step,
};
use crate::error::ServicesError;
use crate::store::movements::{Moved, MovementKind};
use crate::store::{PaymentOutcome, RunResult, SettleReport};
use crate::upstream::UpstreamReply;

/// The row of an attempt, and whether its payment has been settled.
struct Attempt {
    row: AttemptRow,
    state: ReservationState,
    is_dispatched: bool,
    is_paid: bool,
}

fn load(transaction: &Transaction<'_>, reservation: ReservationId) -> Result<Attempt, Failure> {
    let mut statement = transaction.prepare_cached(
        "SELECT r.campaign_id, r.sponsored_api_id, r.user_id, r.service, r.sponsor, r.amount_cents, r.state, r.tx_hash,
             r.idempotency_key, r.is_dispatched, p.status IS 'settled'
         FROM reservations r LEFT JOIN payments p ON p.tx_hash = r.tx_hash WHERE r.id = ?1",
    )?;
    let mut rows = statement.query([reservation.to_string()])?;
    let row = rows.next()?.ok_or_else(|| ServicesError::internal("a reservation does not exist"))?;
    let payer = match (row.get::<_, Option<String>>(0)?, row.get::<_, Option<String>>(1)?) {
        (Some(campaign), _) => Payer::Campaign(id(CampaignId::parse(&campaign))?),
        (None, Some(api)) => Payer::SponsoredApi(id(SponsoredApiId::parse(&api))?),
        (None, None) => return Err(Failure::unreadable("a reservation")),
    };
    let state = ReservationState::stored(&row.get::<_, String>(6)?);
    Ok(Attempt {
        row: AttemptRow {
            id: reservation,
            payer,
            user_id: row.get(2)?,
            service: row.get(3)?,
            sponsor: row.get(4)?,
            amount: cents(row.get(5)?)?,
            tx_hash: TxHash::stored(row.get(7)?),
            key: row.get(8)?,
        },
        state: state.ok_or_else(|| Failure::unreadable("a state"))?,
        is_dispatched: row.get(9)?,
        is_paid: row.get(10)?,
    })
}

pub fn settle(
    transaction: &Transaction<'_>,
    reservation: ReservationId,
    reply: UpstreamReply,
    now: Timestamp,
) -> Result<Moved<SettleReport>, Failure> {
    let attempt = load(transaction, reservation)?;
    use MovementKind::{Released, Reserved, Settled};
    let amount = attempt.row.amount;
    let (payment, movements) = match settle_step(attempt.state, attempt.is_paid) {
        SettleStep::Settle => {
            set_state(transaction, reservation, ReservationState::Settled)?;
            pay(transaction, &attempt.row, now)?;
            (PaymentOutcome::Settled, vec![(Settled, amount)])
        }
        SettleStep::ReserveAgain if take(transaction, attempt.row.payer, attempt.row.amount)? => {
            let again = AttemptRow { id: ReservationId::random(), ..attempt.row.clone() };
            insert(transaction, &again, ReservationState::Settled, now)?;
            pay(transaction, &again, now)?;
            (PaymentOutcome::Settled, vec![(Reserved, amount), (Settled, amount)])
        }
        SettleStep::ReserveAgain => {
            record_payment(transaction, &attempt.row, "failed", now)?;
            (PaymentOutcome::Unpaid, vec![])
        }
        SettleStep::ReleaseAndReplay => {
            give_back(transaction, &attempt.row)?;
            (PaymentOutcome::PaidBefore, vec![(Released, amount)])
        }
        SettleStep::Replay => (PaymentOutcome::PaidBefore, vec![]),
        SettleStep::Done => (PaymentOutcome::Settled, vec![]),
    };
    let result = store_result(transaction, &attempt.row, reply)?;
    Ok(Moved::new(SettleReport { result, payment }, movements))
}

/// Stores the result of a keyed run, unless another attempt has stored one, and returns the stored one.
fn store_result(
    transaction: &Transaction<'_>,
    attempt: &AttemptRow,
    reply: UpstreamReply,
) -> Result<RunResult, Failure> {
    let own = RunResult {
        service: attempt.service.clone(),
        output: reply.body,
        upstream_status: reply.status,
        sponsored_by: attempt.sponsor.clone(),
        tx_hash: attempt.tx_hash.clone(),
    };
    let Some(key) = &attempt.key else { return Ok(own) };
    transaction
        .prepare_cached(
            "UPDATE idempotency_keys SET output = ?4, upstream_status = ?5, sponsored_by = ?6
             WHERE user_id = ?1 AND key = ?2 AND tx_hash = ?3 AND output IS NULL",
        )?
        .execute(params![
            attempt.user_id,
            key,
            own.tx_hash.as_str(),
            own.output.as_bytes(),
            own.upstream_status,
            own.sponsored_by
        ])?;
    let stored = stored_result(transaction, &attempt.user_id, key)?;
    // Under a key that has expired and begun anew, the result of another payment is stored.
    Ok(stored.filter(|stored| stored.tx_hash == own.tx_hash).unwrap_or(own))
}

pub fn release(
    transaction: &Transaction<'_>,
    reservation: ReservationId,
    dispatch: Dispatch,
    now: Timestamp,
) -> Result<Moved<()>, Failure> {
    let attempt = load(transaction, reservation)?;
    release_attempt(transaction, &attempt, dispatch, now)
}

/// Releases an attempt whose process is gone; its row tells whether the upstream was called.
pub fn release_abandoned(
    transaction: &Transaction<'_>,
    reservation: ReservationId,
    now: Timestamp,
) -> Result<Moved<()>, Failure> {
    let attempt = load(transaction, reservation)?;
    let dispatch = if attempt.is_dispatched { Dispatch::Done } else { Dispatch::NotYet };
    release_attempt(transaction, &attempt, dispatch, now)
}

fn release_attempt(
    transaction: &Transaction<'_>,
    attempt: &Attempt,
    dispatch: Dispatch,
    now: Timestamp,
) -> Result<Moved<()>, Failure> {
    match release_step(attempt.state, dispatch, attempt.is_paid) {
        ReleaseStep::Nothing => return Ok(Moved::nothing(())),
        ReleaseStep::Return => give_back(transaction, &attempt.row)?,
        ReleaseStep::ReturnAndFail => {
            give_back(transaction, &attempt.row)?;
            record_payment(transaction, &attempt.row, "failed", now)?;
        }
    }
    Ok(Moved::new((), [(MovementKind::Released, attempt.row.amount)]))
}

/// Returns the reserved amount to its budget.
fn give_back(transaction: &Transaction<'_>, attempt: &AttemptRow) -> Result<(), Failure> {
    set_state(transaction, attempt.id, ReservationState::Released)?;
    let (statement, id) = match attempt.payer {
        Payer::Campaign(id) => (
            "UPDATE campaigns SET budget_remaining_cents = budget_remaining_cents + ?1 WHERE id = ?2",
            id.to_string(),
        ),
        Payer::SponsoredApi(id) => (
            "UPDATE sponsored_apis SET budget_remaining_cents = budget_remaining_cents + ?1 WHERE id = ?2",
            id.to_string(),
        ),
    };
    transaction.prepare_cached(statement)?.execute(params![attempt.amount.get(), id])?;
    Ok(())
}

/// Ends a reservation. The transaction has just read its state, so it is still reserved.
fn set_state(
    transaction: &Transaction<'_>,
    reservation: ReservationId,
    state: ReservationState,
) -> Result<(), Failure> {
    let changed = transaction
        .prepare_cached("UPDATE reservations SET state = ?2 WHERE id = ?1 AND state = 'reserved'")?
        .execute([reservation.to_string(), state.as_str().to_owned()])?;
    if changed == 1 { Ok(()) } else { Err(ServicesError::internal("a reservation ended twice").into()) }
}

/// Records a settled payment, and a call where the API's own budget pays.
fn pay(transaction: &Transaction<'_>, attempt: &AttemptRow, now: Timestamp) -> Result<(), Failure> {
    record_payment(transaction, attempt, "settled", now)?;
    let Payer::SponsoredApi(api) = attempt.payer else { return Ok(()) };
    transaction
        .prepare_cached(
            "INSERT INTO sponsored_api_calls (id, sponsored_api_id, payment_mode, amount_cents, tx_hash, caller, created_at)
             VALUES (?1, ?2, 'sponsored', ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            ReservationId::random().to_string(),
            api.to_string(),
            attempt.amount.get(),
            attempt.tx_hash.as_str(),
            attempt.user_id,
            now.as_microsecond()
        ])?;
    Ok(())
}

/// Records a payment. A failed one of an earlier attempt may become settled; a settled one never changes.
fn record_payment(
    transaction: &Transaction<'_>,
    attempt: &AttemptRow,
    status: &str,
    now: Timestamp,
) -> Result<(), Failure> {
    let campaign_id = match attempt.payer {
        Payer::Campaign(id) => Some(id.to_string()),
        Payer::SponsoredApi(_) => None,
    };
    transaction
        .prepare_cached(
            "INSERT INTO payments (tx_hash, campaign_id, service, amount_cents, payer, source, status, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 'sponsor', ?6, ?7)
             ON CONFLICT (tx_hash) DO UPDATE SET campaign_id = excluded.campaign_id,
                 amount_cents = excluded.amount_cents, status = excluded.status WHERE status = 'failed'",
        )?
        .execute(params![
            attempt.tx_hash.as_str(),
            campaign_id,
            attempt.service,
            attempt.amount.get(),
            attempt.user_id,
            status,
            now.as_microsecond()
        ])?;
    Ok(())
}
