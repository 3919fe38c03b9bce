//! What goes into and comes out of the use cases of a store.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::campaign::Campaign;
use crate::domain::idempotency::{IdempotencyKey, RequestHash};
use crate::domain::ids::{ReservationId, SessionToken, TxHash, UserId};
use crate::domain::limits::MAX_PAGE_BYTES;
use crate::domain::money::Cents;
use crate::domain::search::PageLimit;
use crate::domain::sponsored_api::SponsoredApi;
use crate::domain::task::{CompletionReport, TaskCompletion};
use crate::domain::text::{FieldError, Name, Problem};
use crate::domain::tool_offers::ToolOffers;
use crate::upstream::HttpTarget;

/// What completing a task recorded: what the user is told, and the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What the user is told.
    pub report: CompletionReport,
    /// The completion; the first one, when the task was completed before.
    pub completion: TaskCompletion,
}

/// Which page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The maximum number of entries.
    pub limit: PageLimit,
    /// Where it begins; the newest when absent.
    pub cursor: Option<PageCursor>,
}

/// Where the next page of a list begins: after the entry with this time and id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageCursor {
    /// When the last entry of the page before was created.
    pub created_at: Timestamp,
    /// Its id.
    pub id: String,
}

impl PageCursor {
    /// The cursor that a page returned.
    ///
    /// # Errors
    ///
    /// It is not one.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let cursor = text.split_once('.').and_then(|(micros, id)| {
            let created_at = Timestamp::from_microsecond(micros.parse().ok()?).ok()?;
            let is_id = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
            is_id.then(|| Self { created_at, id: id.to_owned() })
        });
        cursor.ok_or_else(|| Problem::new("must be a `next_cursor` of this list").of("cursor"))
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.created_at.as_microsecond(), self.id)
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The entries, newest first.
    pub entries: Vec<T>,
    /// Where the next page begins; absent at the end.
    pub next: Option<PageCursor>,
}

/// What a list consists of.
pub(crate) trait Listed {
    /// The size of its texts in bytes.
    fn text_bytes(&self) -> usize;
    /// Where the page after it begins.
    fn cursor(&self) -> PageCursor;
}

impl Listed for Campaign {
    fn text_bytes(&self) -> usize {
        Self::text_bytes(self)
    }

    fn cursor(&self) -> PageCursor {
        PageCursor { created_at: self.created_at, id: self.id.to_string() }
    }
}

impl Listed for SponsoredApi {
    fn text_bytes(&self) -> usize {
        let description = self.description.as_ref().map_or(0, String::len);
        self.name.len() + self.sponsor.len() + self.service_key.len() + description
    }

    fn cursor(&self) -> PageCursor {
        PageCursor { created_at: self.created_at, id: self.id.to_string() }
    }
}

/// A page while its entries are read.
pub(crate) struct PageBuilder<T> {
    entries: Vec<T>,
    limit: usize,
    bytes: usize,
    has_more: bool,
}

impl<T: Listed> PageBuilder<T> {
    /// An empty page.
    pub(crate) const fn new(request: &PageRequest) -> Self {
        Self { entries: Vec::new(), limit: request.limit.get(), bytes: 0, has_more: false }
    }

    /// Adds an entry. False when the page is full: then the entry belongs to the next one.
    pub(crate) fn add(&mut self, entry: T) -> bool {
        let bytes = entry.text_bytes();
        let is_long = !self.entries.is_empty() && self.bytes + bytes > MAX_PAGE_BYTES;
        if is_long || self.entries.len() >= self.limit {
            self.has_more = true;
            return false;
        }
        self.bytes += bytes;
        self.entries.push(entry);
        true
    }

    /// Where the next page would begin.
    pub(crate) fn cursor(&self) -> Option<PageCursor> {
        self.entries.last().map(Listed::cursor)
    }

    /// The page.
    pub(crate) fn finish(self) -> Page<T> {
        let next = self.cursor().filter(|_| self.has_more);
        Page { entries: self.entries, next }
    }
}

/// What a campaign has achieved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dashboard {
    /// The campaign.
    pub campaign: Campaign,
    /// How many users have completed its task in a way that counts.
    pub tasks_completed: u64,
    /// How many runs it has paid for.
    pub sponsored_calls: u64,
    /// What these cost.
    pub spend_cents: Cents,
    /// What is set aside for runs in progress.
    pub reserved_cents: Cents,
    /// What is left.
    pub remaining_budget_cents: Cents,
}

/// A request to run a service.
#[derive(Debug, Clone)]
pub struct ReserveRequest {
    /// Who runs it.
    pub session: SessionToken,
    /// The key of the service.
    pub service: Name,
    /// What service and input are.
    pub request_hash: RequestHash,
    /// The caller's idempotency key.
    pub key: Option<IdempotencyKey>,
    /// The tools that sponsors may buy.
    pub tools: Arc<ToolOffers>,
    /// A tool that is known to be ready. The price of any other is not reserved, but [`ReserveOutcome::CheckTool`] names it.
    pub ready_tool: Option<String>,
}

/// What became of a request to run a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReserveOutcome {
    /// The price is reserved.
    Reserved(Reservation),
    /// It ran before under the same key; this was its result.
    Replay(RunResult),
    /// Its tool must be checked before anything is reserved.
    CheckTool(String),
}

/// What runs a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunTarget {
    /// An HTTP upstream.
    Http(HttpTarget),
    /// A tool of this server.
    Tool {
        /// Its name.
        name: String,
        /// The argument for the input.
        argument: &'static str,
    },
}

/// A reserved amount: one attempt of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Its id, which settling and releasing name.
    pub id: ReservationId,
    /// Who runs the service.
    pub user_id: UserId,
    /// The key of the service.
    pub service: String,
    /// What runs it.
    pub target: RunTarget,
    /// The payment, the same for all attempts under one key.
    pub tx_hash: TxHash,
    /// Who pays.
    pub sponsor: String,
    /// How much.
    pub amount: Cents,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResult {
    /// The key of the service.
    pub service: String,
    /// What the upstream answered.
    pub output: String,
    /// The HTTP status of the upstream; 200 for a tool.
    pub upstream_status: u16,
    /// Who pays.
    pub sponsored_by: String,
    /// The payment.
    pub tx_hash: TxHash,
}

/// How a run was paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentOutcome {
    /// From the reservation, or from the budget once more after the lease was lost.
    Settled,
    /// By another attempt under the same key; this one returned its amount.
    PaidBefore,
    /// By nobody: the lease was lost, and the budget was gone by then.
    Unpaid,
}

/// What settling a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleReport {
    /// The result for the caller: that of the first attempt that had one.
    pub result: RunResult,
    /// How it was paid for.
    pub payment: PaymentOutcome,
}

/// A living reservation, as a sweeper observes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The reservation.
    pub id: ReservationId,
    /// Its counter, which its process changes while the run is alive.
    pub counter: i64,
}

/// How far a clean-up came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanUp {
    /// Nothing that has expired is left.
    Complete,
    /// There may be more.
    Partial,
}

/// Whose budget it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetOwner {
    /// A campaign's.
    Campaign,
    /// A sponsored API's.
    SponsoredApi,
}

/// A budget that does not balance: the total is not what remains, is settled, is reserved and was adjusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BookViolation {
    /// Whose budget it is.
    pub owner: BudgetOwner,
    /// The id of the campaign or the sponsored API.
    pub id: String,
    /// The total.
    pub budget_total_cents: i64,
    /// What remains, which is never negative.
    pub budget_remaining_cents: i64,
    /// What is settled.
    pub settled_cents: i64,
    /// What is reserved.
    pub reserved_cents: i64,
    /// What was adjusted when the database was taken over.
    pub adjustments_cents: i64,
}

impl BookViolation {
    /// Whether the books balance, and the fault is that more was spent than there was. Only a database that was taken over
    /// can be in this state.
    #[must_use]
    pub fn is_overdrawn(&self) -> bool {
        let booked =
            [self.budget_remaining_cents, self.settled_cents, self.reserved_cents, self.adjustments_cents];
        booked.into_iter().map(i128::from).sum::<i128>() == i128::from(self.budget_total_cents)
    }
}

impl fmt::Display for BookViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = match self.owner {
            BudgetOwner::Campaign => "campaign",
            BudgetOwner::SponsoredApi => "sponsored API",
        };
        if self.is_overdrawn() {
            let (id, total) = (&self.id, self.budget_total_cents);
            let more = self.budget_remaining_cents.unsigned_abs();
            return write!(f, "the {owner} {id} is overdrawn: {more} cents more than its {total} were spent");
        }
        write!(
            f,
            "the books of the {owner} {} do not balance: total {} is not remaining {} + settled {} + reserved {} + adjustments {}",
            self.id,
            self.budget_total_cents,
            self.budget_remaining_cents,
            self.settled_cents,
            self.reserved_cents,
            self.adjustments_cents
        )
    }
}

/// Something that is wrong with a row, or with the database itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowProblem(pub String);

impl fmt::Display for RowProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text() {
        let cursor =
            PageCursor { created_at: Timestamp::UNIX_EPOCH, id: ReservationId::random().to_string() };
        assert_eq!(PageCursor::parse(&cursor.to_string()), Ok(cursor));
        for wrong in ["", "1", "x.y", "1.'; drop table campaigns; --xxxxxxxxxxx", "99999999999999999999.a"] {
            assert_eq!(PageCursor::parse(wrong).unwrap_err().field, "cursor", "{wrong}");
        }
    }
}
