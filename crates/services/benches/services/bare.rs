//! What the store is compared with: the statements alone, in the same transactions.

use serde_json::value::RawValue;

/// A database without this program.
pub trait Bare {
    /// Reads the rows of a search, and the JSON of as many as it shows.
    async fn select(&mut self, shown: usize) -> Vec<u8>;
    /// The statements of a reservation, and of the mark before the dispatch.
    async fn reserve(&mut self, session: &str, service: &str) -> BareReservation;
    /// The statements of a settlement.
    async fn settle(&mut self, reservation: &BareReservation);
    /// `count` transactions with one small change each, one after the other.
    async fn commits(&mut self, count: usize);
}

pub struct BareReservation {
    pub id: String,
    pub campaign: String,
    pub user: String,
    pub tx_hash: String,
}

#[derive(serde::Serialize)]
pub struct BareRow {
    pub id: String,
    pub name: String,
    pub sponsor: String,
    pub required_task: Option<String>,
    pub subsidy: i64,
    pub remaining: i64,
    pub target_tools: Box<RawValue>,
    pub tags: Box<RawValue>,
    pub task_type: Option<String>,
}
