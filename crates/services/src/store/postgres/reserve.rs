//! Reserving the price of a run.

use futures_util::future::try_join;
use jiff::Timestamp;

use super::accounts::session_user;
use super::campaigns::{Targeting, targeting};
use super::connection::PostgresConnection;
use super::failure::Failure;
use super::keys::lock_key;
use super::sponsored_apis;
use crate::domain::idempotency::{
    IdempotencyKey, KeyDecision, KeyUse, RequestHash, StoredKey, decide, session_hash,
};
use crate::domain::ids::{CampaignId, ReservationId, SponsoredApiId, TxHash, UserId};
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

pub async fn reserve(
    connection: &PostgresConnection<'_>,
    request: &ReserveRequest,
    now: Timestamp,
) -> Result<Moved<ReserveOutcome>, Failure> {
    let key = &*request.service;
    let user = session_user(connection, request.session, now);
    let (user, api) = try_join(user, sponsored_apis::find_by_key(connection, key)).await?;
    let tx_hash = match &request.key {
        None => TxHash::random(),
        Some(key) => match key_decision(connection, &user, key, request, now).await? {
            KeyDecision::First => {
                key_use(connection, user.id, now).await?.check().map_err(ServicesError::from)?;
                TxHash::random()
            }
            KeyDecision::Again(tx_hash) => tx_hash,
            KeyDecision::Replay => {
                let result = replay(connection, user.id, key).await?;
                return Ok(Moved::nothing(ReserveOutcome::Replay(result)));
            }
            KeyDecision::InProgress => return Err(ServicesError::InProgress.into()),
            KeyDecision::Conflict => return Err(key_conflict().into()),
            KeyDecision::OtherSession => return Err(other_session().into()),
        },
    };
    let is_targeted = api.is_none() && is_targeted(connection, key).await?;
    let service = Service::resolve(key, api.as_ref(), is_targeted, &request.tools)
        .map_err(|reason| ServicesError::unresolved(key, reason))?;
    if let Some((tool, _)) = service.tool.filter(|(tool, _)| request.ready_tool.as_deref() != Some(tool)) {
        return Ok(Moved::nothing(ReserveOutcome::CheckTool(tool.to_owned())));
    }
    let offer = find_payer(connection, &service, key, &user).await?;
    let attempt = AttemptRow {
        id: ReservationId::random(),
        payer: offer.payer,
        sponsor: offer.sponsor,
        user_id: user.id,
        service: key.to_owned(),
        amount: offer.price,
        tx_hash,
        key: request.key.as_ref().map(|key| key.as_str().to_owned()),
    };
    let insert = insert(connection, &attempt, ReservationState::Reserved, now);
    try_join(insert, record_key(connection, &attempt, request, now)).await?;
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

/// What the living keys of a person take up.
async fn key_use(
    connection: &PostgresConnection<'_>,
    user_id: UserId,
    now: Timestamp,
) -> Result<KeyUse, Failure> {
    let query = "SELECT count(*), coalesce(sum(octet_length(output)), 0)::bigint FROM idempotency_keys
         WHERE user_id = $1 AND expires_at > $2";
    let row = connection.row(query, &[&user_id, &now]).await?;
    let number = |column| Ok::<_, Failure>(row.try_get::<_, i64>(column)?.unsigned_abs());
    Ok(KeyUse { keys: number(0)?, output_bytes: number(1)? })
}

async fn is_targeted(connection: &PostgresConnection<'_>, service: &str) -> Result<bool, Failure> {
    let query = "SELECT 1 FROM campaigns WHERE target_tools @> ARRAY[$1::text] LIMIT 1";
    Ok(connection.find(query, &[&service]).await?.is_some())
}

/// Takes the price from the first budget that still has it.
async fn find_payer(
    connection: &PostgresConnection<'_>,
    service: &Service<'_>,
    key: &str,
    user: &User,
) -> Result<Offer, Failure> {
    // Only campaigns whose task the user has completed can pay, and these are few. The others are looked at when none does.
    let roles = UserRoles::new(&user.roles);
    let claimed = targeting(connection, key, user.id, &roles, Targeting::ClaimedByUser).await?;
    let offers = plan(service, claimed.iter()).offers;
    for offer in offers.into_iter().filter(|offer| matches!(offer.payer, Payer::Campaign(_))) {
        if take(connection, offer.payer, offer.price).await? {
            return Ok(offer);
        }
    }
    let active = targeting(connection, key, user.id, &roles, Targeting::Active).await?;
    let plan = plan(service, active.iter());
    for offer in plan.offers {
        if take(connection, offer.payer, offer.price).await? {
            return Ok(offer);
        }
    }
    Err(ServicesError::no_payer(key, plan.otherwise).into())
}

/// Takes an amount from a budget, if it is there. The row stays locked until the end, so that no other run takes the same.
pub async fn take(connection: &PostgresConnection<'_>, payer: Payer, amount: Cents) -> Result<bool, Failure> {
    let taken = match payer {
        Payer::Campaign(id) => {
            let take = "UPDATE campaigns SET budget_remaining_cents = budget_remaining_cents - $1
                 WHERE id = $2 AND budget_remaining_cents >= $1";
            connection.execute(take, &[&amount.get(), &id]).await?
        }
        Payer::SponsoredApi(id) => {
            let take = "UPDATE sponsored_apis SET budget_remaining_cents = budget_remaining_cents - $1
                 WHERE id = $2 AND budget_remaining_cents >= $1";
            connection.execute(take, &[&amount.get(), &id]).await?
        }
    };
    Ok(taken == 1)
}

/// One attempt of a run, as its row stores it.
#[derive(Debug, Clone)]
pub struct AttemptRow {
    pub id: ReservationId,
    pub payer: Payer,
    pub sponsor: String,
    pub user_id: UserId,
    pub service: String,
    pub amount: Cents,
    pub tx_hash: TxHash,
    pub key: Option<String>,
}

impl AttemptRow {
    /// The two columns of the payer, one of which is null.
    pub const fn payer_columns(&self) -> (Option<CampaignId>, Option<SponsoredApiId>) {
        match self.payer {
            Payer::Campaign(id) => (Some(id), None),
            Payer::SponsoredApi(id) => (None, Some(id)),
        }
    }
}

/// Makes the attempt the newest under its key.
async fn record_key(
    connection: &PostgresConnection<'_>,
    attempt: &AttemptRow,
    request: &ReserveRequest,
    now: Timestamp,
) -> Result<(), Failure> {
    let Some(key) = &attempt.key else { return Ok(()) };
    // A key whose time is over begins anew, with nothing of its old result. Otherwise it keeps its time.
    connection
        .execute(
            "INSERT INTO idempotency_keys AS k (user_id, key, request_hash, tx_hash, reservation_id, service, expires_at,
                 session_hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7,
                 CASE WHEN NOT EXISTS (SELECT 1 FROM identities WHERE user_id = $1) THEN $8 END)
             ON CONFLICT (user_id, key) DO UPDATE SET request_hash = excluded.request_hash,
                 expires_at = CASE WHEN k.tx_hash = excluded.tx_hash THEN k.expires_at ELSE excluded.expires_at END,
                 tx_hash = excluded.tx_hash, reservation_id = excluded.reservation_id, service = excluded.service,
                 session_hash = excluded.session_hash, output = NULL, upstream_status = NULL, sponsored_by = NULL",
            &[
                &attempt.user_id,
                key,
                &request.request_hash.to_string(),
                &attempt.tx_hash.as_str(),
                &attempt.id,
                &attempt.service,
                &later(now, KEY_LIFETIME),
                &session_hash(request.session),
            ],
        )
        .await?;
    Ok(())
}

/// Writes the row of an attempt.
pub async fn insert(
    connection: &PostgresConnection<'_>,
    attempt: &AttemptRow,
    state: ReservationState,
    now: Timestamp,
) -> Result<(), Failure> {
    let (campaign_id, api_id) = attempt.payer_columns();
    connection
        .execute(
            "INSERT INTO reservations (id, campaign_id, sponsored_api_id, user_id, service, sponsor, amount_cents,
                 state, tx_hash, idempotency_key, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            &[
                &attempt.id,
                &campaign_id,
                &api_id,
                &attempt.user_id,
                &attempt.service,
                &attempt.sponsor,
                &attempt.amount.get(),
                &state.as_str(),
                &attempt.tx_hash.as_str(),
                &attempt.key,
                &now,
            ],
        )
        .await?;
    Ok(())
}

/// What a request under a key gets. Until the end of the transaction nobody else uses the key.
async fn key_decision(
    connection: &PostgresConnection<'_>,
    user: &User,
    key: &IdempotencyKey,
    request: &ReserveRequest,
    now: Timestamp,
) -> Result<KeyDecision, Failure> {
    let query = "SELECT k.request_hash, k.tx_hash, k.expires_at <= $3, r.state, k.output IS NOT NULL,
             coalesce(k.session_hash = $4, true)
         FROM idempotency_keys k LEFT JOIN reservations r ON r.id = k.reservation_id
         WHERE k.user_id = $1 AND k.key = $2";
    let lock = lock_key(connection, user.id, Some(key.as_str()));
    let own = session_hash(request.session);
    let ((), stored) = try_join(lock, connection.find(query, &[&user.id, &key.as_str(), &now, &own])).await?;
    let stored = match stored {
        Some(row) => Some(StoredKey {
            request_hash: RequestHash::stored(row.try_get(0)?),
            tx_hash: TxHash::stored(row.try_get(1)?),
            is_expired: row.try_get(2)?,
            newest_attempt: row.try_get::<_, Option<&str>>(3)?.and_then(ReservationState::stored),
            has_result: row.try_get(4)?,
            is_own: row.try_get(5)?,
        }),
        None => None,
    };
    Ok(decide(stored, &request.request_hash))
}

async fn replay(
    connection: &PostgresConnection<'_>,
    user: UserId,
    key: &IdempotencyKey,
) -> Result<RunResult, Failure> {
    let stored = stored_result(connection, user, key.as_str()).await?;
    stored.ok_or_else(|| Failure::unreadable("a result"))
}

/// The result that is stored under a key.
pub async fn stored_result(
    connection: &PostgresConnection<'_>,
    user_id: UserId,
    key: &str,
) -> Result<Option<RunResult>, Failure> {
    let query = "SELECT service, output, upstream_status, sponsored_by, tx_hash FROM idempotency_keys
         WHERE user_id = $1 AND key = $2 AND output IS NOT NULL";
    let Some(row) = connection.find(query, &[&user_id, &key]).await? else { return Ok(None) };
    let output = String::from_utf8(row.try_get(1)?).map_err(|_| Failure::unreadable("an output"))?;
    let status: i32 = row.try_get(2)?;
    Ok(Some(RunResult {
        service: row.try_get(0)?,
        output,
        upstream_status: u16::try_from(status).map_err(|_| Failure::unreadable("a status"))?,
        sponsored_by: row.try_get(3)?,
        tx_hash: TxHash::stored(row.try_get(4)?),
    }))
}
