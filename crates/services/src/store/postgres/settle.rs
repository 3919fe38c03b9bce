//! Settling and releasing an attempt. Both name its row, lock it and need its state, so that no attempt can touch another's.

use futures_util::future::try_join;
use jiff::Timestamp;

use super::connection::PostgresConnection;
use super::failure::Failure;
use super::keys::lock_key;
use super::reserve::{AttemptRow, insert, stored_result, take};
use super::values::cents;
use crate::domain::ids::{CampaignId, ReservationId, SponsoredApiId, TxHash, UserId};
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

/// Reads and locks an attempt, and then its key. Only afterwards is it certain whether the payment is settled.
async fn load(connection: &PostgresConnection<'_>, reservation: ReservationId) -> Result<Attempt, Failure> {
    let query =
        "SELECT campaign_id, sponsored_api_id, user_id, service, sponsor, amount_cents, state, tx_hash,
             idempotency_key, is_dispatched
         FROM reservations WHERE id = $1 FOR UPDATE";
    let row = connection.find(query, &[&reservation]).await?;
    let row = row.ok_or_else(|| ServicesError::internal("a reservation does not exist"))?;
    let payer = match (row.try_get::<_, Option<CampaignId>>(0)?, row.try_get::<_, Option<SponsoredApiId>>(1)?)
    {
        (Some(campaign), _) => Payer::Campaign(campaign),
        (None, Some(api)) => Payer::SponsoredApi(api),
        (None, None) => return Err(Failure::unreadable("a reservation")),
    };
    let (user_id, key): (UserId, Option<String>) = (row.try_get(2)?, row.try_get(8)?);
    let tx_hash = TxHash::stored(row.try_get(7)?);
    let paid = "SELECT 1 FROM payments WHERE tx_hash = $1 AND status = 'settled'";
    let lock = lock_key(connection, user_id, key.as_deref());
    let ((), paid) = try_join(lock, connection.find(paid, &[&tx_hash.as_str()])).await?;
    Ok(Attempt {
        state: ReservationState::stored(row.try_get(6)?).ok_or_else(|| Failure::unreadable("a state"))?,
        is_dispatched: row.try_get(9)?,
        is_paid: paid.is_some(),
        row: AttemptRow {
            id: reservation,
            payer,
            user_id,
            service: row.try_get(3)?,
            sponsor: row.try_get(4)?,
            amount: cents(row.try_get(5)?),
            tx_hash,
            key,
        },
    })
}

pub async fn settle(
    connection: &PostgresConnection<'_>,
    (reservation, reply): &(ReservationId, UpstreamReply),
    now: Timestamp,
) -> Result<Moved<SettleReport>, Failure> {
    let attempt = load(connection, *reservation).await?;
    use MovementKind::{Released, Reserved, Settled};
    let amount = attempt.row.amount;
    let (payment, movements) = match settle_step(attempt.state, attempt.is_paid) {
        SettleStep::Settle => {
            let settled = set_state(connection, *reservation, ReservationState::Settled);
            try_join(settled, pay(connection, &attempt.row, now)).await?;
            (PaymentOutcome::Settled, vec![(Settled, amount)])
        }
        SettleStep::ReserveAgain if take(connection, attempt.row.payer, attempt.row.amount).await? => {
            let again = AttemptRow { id: ReservationId::random(), ..attempt.row.clone() };
            insert(connection, &again, ReservationState::Settled, now).await?;
            pay(connection, &again, now).await?;
            (PaymentOutcome::Settled, vec![(Reserved, amount), (Settled, amount)])
        }
        SettleStep::ReserveAgain => {
            record_payment(connection, &attempt.row, "failed", now).await?;
            (PaymentOutcome::Unpaid, vec![])
        }
        SettleStep::ReleaseAndReplay => {
            give_back(connection, &attempt.row).await?;
            (PaymentOutcome::PaidBefore, vec![(Released, amount)])
        }
        SettleStep::Replay => (PaymentOutcome::PaidBefore, vec![]),
        SettleStep::Done => (PaymentOutcome::Settled, vec![]),
    };
    let result = store_result(connection, &attempt.row, reply).await?;
    Ok(Moved::new(SettleReport { result, payment }, movements))
}

/// Stores the result of a keyed run, unless another attempt has stored one, and returns the stored one.
async fn store_result(
    connection: &PostgresConnection<'_>,
    attempt: &AttemptRow,
    reply: &UpstreamReply,
) -> Result<RunResult, Failure> {
    let own = RunResult {
        service: attempt.service.clone(),
        output: reply.body.clone(),
        upstream_status: reply.status,
        sponsored_by: attempt.sponsor.clone(),
        tx_hash: attempt.tx_hash.clone(),
    };
    let Some(key) = &attempt.key else { return Ok(own) };
    let stored = connection
        .execute(
            "UPDATE idempotency_keys SET output = $4, upstream_status = $5, sponsored_by = $6
             WHERE user_id = $1 AND key = $2 AND tx_hash = $3 AND output IS NULL",
            &[
                &attempt.user_id,
                key,
                &own.tx_hash.as_str(),
                &own.output.as_bytes(),
                &i32::from(own.upstream_status),
                &own.sponsored_by,
            ],
        )
        .await?;
    if stored == 1 {
        return Ok(own);
    }
    let stored = stored_result(connection, attempt.user_id, key).await?;
    // Under a key that has expired and begun anew, the result of another payment is stored.
    Ok(stored.filter(|stored| stored.tx_hash == own.tx_hash).unwrap_or(own))
}

pub async fn release(
    connection: &PostgresConnection<'_>,
    (reservation, dispatch): &(ReservationId, Dispatch),
    now: Timestamp,
) -> Result<Moved<()>, Failure> {
    let attempt = load(connection, *reservation).await?;
    release_attempt(connection, &attempt, *dispatch, now).await
}

/// Releases an attempt whose process is gone; its row tells whether the upstream was called.
pub async fn release_abandoned(
    connection: &PostgresConnection<'_>,
    reservation: ReservationId,
    now: Timestamp,
) -> Result<Moved<()>, Failure> {
    let attempt = load(connection, reservation).await?;
    let dispatch = if attempt.is_dispatched { Dispatch::Done } else { Dispatch::NotYet };
    release_attempt(connection, &attempt, dispatch, now).await
}

async fn release_attempt(
    connection: &PostgresConnection<'_>,
    attempt: &Attempt,
    dispatch: Dispatch,
    now: Timestamp,
) -> Result<Moved<()>, Failure> {
    match release_step(attempt.state, dispatch, attempt.is_paid) {
        ReleaseStep::Nothing => return Ok(Moved::nothing(())),
        ReleaseStep::Return => give_back(connection, &attempt.row).await?,
        ReleaseStep::ReturnAndFail => {
            give_back(connection, &attempt.row).await?;
            record_payment(connection, &attempt.row, "failed", now).await?;
        }
    }
    Ok(Moved::new((), [(MovementKind::Released, attempt.row.amount)]))
}

/// Returns the reserved amount to its budget.
async fn give_back(connection: &PostgresConnection<'_>, attempt: &AttemptRow) -> Result<(), Failure> {
    set_state(connection, attempt.id, ReservationState::Released).await?;
    let amount = attempt.amount.get();
    match attempt.payer {
        Payer::Campaign(id) => {
            let give =
                "UPDATE campaigns SET budget_remaining_cents = budget_remaining_cents + $1 WHERE id = $2";
            connection.execute(give, &[&amount, &id]).await?
        }
        Payer::SponsoredApi(id) => {
            let give = "UPDATE sponsored_apis SET budget_remaining_cents = budget_remaining_cents + $1 WHERE id = $2";
            connection.execute(give, &[&amount, &id]).await?
        }
    };
    Ok(())
}

/// Ends a reservation. The transaction has locked its row and read its state, so it is still reserved.
async fn set_state(
    connection: &PostgresConnection<'_>,
    reservation: ReservationId,
    state: ReservationState,
) -> Result<(), Failure> {
    let statement = "UPDATE reservations SET state = $2 WHERE id = $1 AND state = 'reserved'";
    match connection.execute(statement, &[&reservation, &state.as_str()]).await? {
        1 => Ok(()),
        _ => Err(ServicesError::internal("a reservation ended twice").into()),
    }
}

/// Records a settled payment, and a call where the API's own budget pays.
async fn pay(
    connection: &PostgresConnection<'_>,
    attempt: &AttemptRow,
    now: Timestamp,
) -> Result<(), Failure> {
    record_payment(connection, attempt, "settled", now).await?;
    let Payer::SponsoredApi(api) = attempt.payer else { return Ok(()) };
    connection
        .execute(
            "INSERT INTO sponsored_api_calls (id, sponsored_api_id, payment_mode, amount_cents, tx_hash, caller,
                 created_at)
             VALUES (gen_random_uuid(), $1, 'sponsored', $2, $3, $4, $5)",
            &[&api, &attempt.amount.get(), &attempt.tx_hash.as_str(), &attempt.user_id.to_string(), &now],
        )
        .await?;
    Ok(())
}

/// Records a payment. A failed one of an earlier attempt may become settled; a settled one never changes.
async fn record_payment(
    connection: &PostgresConnection<'_>,
    attempt: &AttemptRow,
    status: &str,
    now: Timestamp,
) -> Result<(), Failure> {
    let (campaign_id, _) = attempt.payer_columns();
    connection
        .execute(
            "INSERT INTO payments AS p (tx_hash, campaign_id, service, amount_cents, payer, source, status, created_at)
             VALUES ($1, $2, $3, $4, $5, 'sponsor', $6, $7)
             ON CONFLICT (tx_hash) DO UPDATE SET campaign_id = excluded.campaign_id,
                 amount_cents = excluded.amount_cents, status = excluded.status WHERE p.status = 'failed'",
            &[
                &attempt.tx_hash.as_str(),
                &campaign_id,
                &attempt.service,
                &attempt.amount.get(),
                &attempt.user_id.to_string(),
                &status,
                &now,
            ],
        )
        .await?;
    Ok(())
}
