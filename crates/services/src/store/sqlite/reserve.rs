//! Reserving the price of a run.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Transaction, params};

use super::accounts::session_user;
use super::campaigns::{Targeting, targeting};
use super::failure::Failure;
use super::sponsored_apis;
use crate::domain::idempotency::{
    IdempotencyKey, KeyDecision, KeyUse, RequestHash, StoredKey, decide, session_hash,
};
use crate::domain::ids::{ReservationId, TxHash};
use crate::domain::limits::KEY_LIFETIME;
use crate::domain::matching::{Offer, Payer, plan};
use crate::domain::money::Cents;
use crate::domain::reservation::ReservationState;
use crate::domain::roles::UserRoles;
use crate::domain::service::Service;
use crate::domain::user::User;
use crate::error::ServicesError;
use crate::store::movements::{Moved, MovementKind};
use crate::store::shared::{key_conflict, later, other_session, run_target};
use crate::store::{Reservation, ReserveOutcome, ReserveRequest, RunResult};

pub fn reserve(
    transaction: &Transaction<'_>,
    request: &ReserveRequest,
    now: Timestamp,
) -> Result<Moved<ReserveOutcome>, Failure> {
    let user = session_user(transaction, request.session, now)?;
    let tx_hash = match &request.key {
        None => TxHash::random(),
        Some(key) => match key_decision(transaction, &user, key, request, now)? {
            KeyDecision::First => {
                key_use(transaction, &user, now)?.check().map_err(ServicesError::from)?;
                TxHash::random()
            }
            KeyDecision::Again(tx_hash) => tx_hash,
            KeyDecision::Replay => {
                return Ok(Moved::nothing(ReserveOutcome::Replay(replay(transaction, &user, key)?)));
            }
            KeyDecision::InProgress => return Err(ServicesError::InProgress.into()),
            KeyDecision::Conflict => return Err(key_conflict().into()),
            KeyDecision::OtherSession => return Err(other_session().into()),
        },
    };
    let key = &*request.service;
    let api = sponsored_apis::find_by_key(transaction, key)?;
    let is_targeted = api.is_none() && is_targeted(transaction, key)?;
    let service = Service::resolve(key, api.as_ref(), is_targeted, &request.tools)
        .map_err(|reason| ServicesError::unresolved(key, reason))?;
    if let Some((tool, _)) = service.tool.filter(|(tool, _)| request.ready_tool.as_deref() != Some(tool)) {
        return Ok(Moved::nothing(ReserveOutcome::CheckTool(tool.to_owned())));
    }
    let offer = find_payer(transaction, &service, key, &user)?;
    let attempt = AttemptRow {
        id: ReservationId::random(),
        payer: offer.payer,
        sponsor: offer.sponsor,
        user_id: user.id.to_string(),
        service: key.to_owned(),
        amount: offer.price,
        tx_hash,
        key: request.key.as_ref().map(|key| key.as_str().to_owned()),
    };
    record(transaction, &attempt, request, now)?;
    let moved = (MovementKind::Reserved, attempt.amount);
    let reservation = Reservation {
        id: attempt.id,
        user_id: user.id,
        service: attempt.service,
        target: run_target(&service),
        tx_hash: attempt.tx_hash,
        sponsor: attempt.sponsor,
        amount: attempt.amount,
    };
    Ok(Moved::new(ReserveOutcome::Reserved(reservation), [moved]))
}

fn is_targeted(transaction: &Transaction<'_>, service: &str) -> Result<bool, Failure> {
    let mut statement = transaction.prepare_cached("SELECT 1 FROM campaign_tools WHERE tool = ?1 LIMIT 1")?;
    Ok(statement.exists([service])?)
}

/// Takes the price from the first budget that still has it.
fn find_payer(
    transaction: &Transaction<'_>,
    service: &Service<'_>,
    key: &str,
    user: &User,
) -> Result<Offer, Failure> {
    let (user_id, roles) = (user.id.to_string(), UserRoles::new(&user.roles));
    // Only campaigns whose task the user has completed can pay, and these are few. The others are looked at when none does.
    let claimed = targeting(transaction, key, &user_id, &roles, Targeting::ClaimedByUser)?;
    let offers = plan(service, claimed.iter()).offers;
    for offer in offers.into_iter().filter(|offer| matches!(offer.payer, Payer::Campaign(_))) {
        if take(transaction, offer.payer, offer.price)? {
            return Ok(offer);
        }
    }
    let active = targeting(transaction, key, &user_id, &roles, Targeting::Active)?;
    let plan = plan(service, active.iter());
    for offer in plan.offers {
        if take(transaction, offer.payer, offer.price)? {
            return Ok(offer);
        }
    }
    Err(ServicesError::no_payer(key, plan.otherwise).into())
}

/// Takes an amount from a budget, if it is there.
pub fn take(transaction: &Transaction<'_>, payer: Payer, amount: Cents) -> Result<bool, Failure> {
    let (statement, id) = match payer {
        Payer::Campaign(id) => (
            "UPDATE campaigns SET budget_remaining_cents = budget_remaining_cents - ?1
             WHERE id = ?2 AND budget_remaining_cents >= ?1",
            id.to_string(),
        ),
        Payer::SponsoredApi(id) => (
            "UPDATE sponsored_apis SET budget_remaining_cents = budget_remaining_cents - ?1
             WHERE id = ?2 AND budget_remaining_cents >= ?1",
            id.to_string(),
        ),
    };
    Ok(transaction.prepare_cached(statement)?.execute(params![amount.get(), id])? == 1)
}

/// One attempt of a run, as its row stores it.
#[derive(Debug, Clone)]
pub struct AttemptRow {
    pub id: ReservationId,
    pub payer: Payer,
    pub sponsor: String,
    pub user_id: String,
    pub service: String,
    pub amount: Cents,
    pub tx_hash: TxHash,
    pub key: Option<String>,
}

/// Writes the new attempt, and makes it the newest under its key.
fn record(
    transaction: &Transaction<'_>,
    attempt: &AttemptRow,
    request: &ReserveRequest,
    now: Timestamp,
) -> Result<(), Failure> {
    insert(transaction, attempt, ReservationState::Reserved, now)?;
    let Some(key) = &attempt.key else { return Ok(()) };
    // A key whose time is over begins anew, with nothing of its old result. Otherwise it keeps its time.
    transaction
        .prepare_cached(
            "INSERT INTO idempotency_keys (user_id, key, request_hash, tx_hash, reservation_id, service, expires_at,
                 session_hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, iif(EXISTS (SELECT 1 FROM identities WHERE user_id = ?1), NULL, ?8))
             ON CONFLICT (user_id, key) DO UPDATE SET request_hash = excluded.request_hash,
                 expires_at = iif(tx_hash = excluded.tx_hash, expires_at, excluded.expires_at),
                 tx_hash = excluded.tx_hash, reservation_id = excluded.reservation_id, service = excluded.service,
                 session_hash = excluded.session_hash, output = NULL, upstream_status = NULL, sponsored_by = NULL",
        )?
        .execute(params![
            attempt.user_id,
            key,
            request.request_hash.to_string(),
            attempt.tx_hash.as_str(),
            attempt.id.to_string(),
            attempt.service,
            later(now, KEY_LIFETIME).as_microsecond(),
            session_hash(request.session)
        ])?;
    Ok(())
}

/// Writes the row of an attempt.
pub fn insert(
    transaction: &Transaction<'_>,
    attempt: &AttemptRow,
    state: ReservationState,
    now: Timestamp,
) -> Result<(), Failure> {
    let (campaign_id, api_id) = match attempt.payer {
        Payer::Campaign(id) => (Some(id.to_string()), None),
        Payer::SponsoredApi(id) => (None, Some(id.to_string())),
    };
    transaction
        .prepare_cached(
            "INSERT INTO reservations (id, campaign_id, sponsored_api_id, user_id, service, sponsor, amount_cents,
                 state, tx_hash, idempotency_key, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute(params![
            attempt.id.to_string(),
            campaign_id,
            api_id,
            attempt.user_id,
            attempt.service,
            attempt.sponsor,
            attempt.amount.get(),
            state.as_str(),
            attempt.tx_hash.as_str(),
            attempt.key,
            now.as_microsecond()
        ])?;
    Ok(())
}

fn key_decision(
    transaction: &Transaction<'_>,
    user: &User,
    key: &IdempotencyKey,
    request: &ReserveRequest,
    now: Timestamp,
) -> Result<KeyDecision, Failure> {
    let mut statement = transaction.prepare_cached(
        "SELECT k.request_hash, k.tx_hash, k.expires_at <= ?3, r.state, k.output IS NOT NULL,
             coalesce(k.session_hash = ?4, TRUE)
         FROM idempotency_keys k LEFT JOIN reservations r ON r.id = k.reservation_id
         WHERE k.user_id = ?1 AND k.key = ?2",
    )?;
    let session = session_hash(request.session);
    let stored = statement
        .query_row(params![user.id.to_string(), key.as_str(), now.as_microsecond(), session], |row| {
            Ok(StoredKey {
                request_hash: RequestHash::stored(row.get(0)?),
                tx_hash: TxHash::stored(row.get(1)?),
                is_expired: row.get(2)?,
                newest_attempt: row
                    .get::<_, Option<String>>(3)?
                    .and_then(|state| ReservationState::stored(&state)),
                has_result: row.get(4)?,
                is_own: row.get(5)?,
            })
        })
        .optional()?;
    Ok(decide(stored, &request.request_hash))
}

/// What the living keys of a person take up.
fn key_use(transaction: &Transaction<'_>, user: &User, now: Timestamp) -> Result<KeyUse, Failure> {
    let mut statement = transaction.prepare_cached(
        "SELECT count(*), coalesce(sum(length(output)), 0) FROM idempotency_keys WHERE user_id = ?1 AND expires_at > ?2",
    )?;
    Ok(statement.query_row(params![user.id.to_string(), now.as_microsecond()], |row| {
        let number = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
        Ok(KeyUse { keys: number(0)?, output_bytes: number(1)? })
    })?)
}

fn replay(transaction: &Transaction<'_>, user: &User, key: &IdempotencyKey) -> Result<RunResult, Failure> {
    let stored = stored_result(transaction, &user.id.to_string(), key.as_str())?;
    stored.ok_or_else(|| Failure::unreadable("a result"))
}

/// The result that is stored under a key.
pub fn stored_result(
    transaction: &Transaction<'_>,
    user_id: &str,
    key: &str,
) -> Result<Option<RunResult>, Failure> {
    let mut statement = transaction.prepare_cached(
        "SELECT service, output, upstream_status, sponsored_by, tx_hash FROM idempotency_keys
         WHERE user_id = ?1 AND key = ?2 AND output IS NOT NULL",
    )?;
    let mut rows = statement.query([user_id, key])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let output = String::from_utf8(row.get(1)?).map_err(|_| Failure::unreadable("an output"))?;
    Ok(Some(RunResult {
        service: row.get(0)?,
        output,
        upstream_status: row.get(2)?,
        sponsored_by: row.get(3)?,
        tx_hash: TxHash::stored(row.get(4)?),
    }))
}
