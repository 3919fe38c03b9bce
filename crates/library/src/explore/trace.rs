//! What finds saw, kept for a while so that it can be asked for page by page.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use annai_core::{ErrorKind, Principal, ToolError};
use ring::rand::{SecureRandom as _, SystemRandom};
use schemars::JsonSchema;
use serde::Serialize;

use super::rank::Signals;
use crate::fs::Sha256;
use crate::reference::{Ref, Target};

/// Together traces take at most about so much memory; the oldest go first.
const MOST_BYTES: usize = 64 << 20;

/// Why a part was not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    TimeBudget,
    CandidateCap,
    StageCap,
    HardLimit,
}

impl Reason {
    /// As it is told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TimeBudget => "time_budget",
            Self::CandidateCap => "candidate_cap",
            Self::StageCap => "stage_cap",
            Self::HardLimit => "hard_limit",
        }
    }
}

/// Parts of a file that were not looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Unscanned {
    /// The manual; none for the vault.
    pub manual_id: Option<Arc<str>>,
    /// The file.
    pub path: String,
    /// The hash of its bytes, if it was read.
    pub sha256: Option<Sha256>,
    /// Why.
    pub reason: Reason,
    /// Where its sections start; none = the whole file.
    pub lines: Vec<u32>,
    /// Those of them that only another section led to.
    pub carried: Vec<Carried>,
}

/// A section that only another one led to, and that there was no room for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carried {
    /// Where it starts.
    pub line: u32,
    /// How well it fits.
    pub score: f32,
    /// What led to it.
    pub signals: Signals,
}

impl Unscanned {
    /// A whole file.
    pub const fn file(manual_id: Option<Arc<str>>, path: String, reason: Reason) -> Self {
        Self { manual_id, path, sha256: None, reason, lines: Vec::new(), carried: Vec::new() }
    }

    /// How many places that is.
    pub fn count(&self) -> usize {
        self.lines.len().max(1)
    }
}

/// A section that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Where it is, and why it was found.
    pub place: Ref,
    /// How well it fits.
    pub score: f64,
    /// The ids of the sections that say otherwise.
    pub conflict_with: Vec<String>,
}

/// What a find saw.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Where it looked.
    pub target: Target,
    /// What was found, in document order.
    pub candidates: Vec<Item>,
    /// The best of it, best first.
    pub top: Vec<Item>,
    /// What was not looked at.
    pub unscanned: Vec<Unscanned>,
    /// Sections that disagree, and about what.
    pub conflicts: Vec<(Item, String)>,
    /// What nothing was found for.
    pub gaps: Vec<String>,
}

impl Seen {
    /// How many places were not looked at.
    pub fn unscanned_count(&self) -> usize {
        self.unscanned.iter().map(Unscanned::count).sum()
    }

    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        let items = self.candidates.len() + self.top.len() + self.conflicts.len();
        items * 400
            + self.unscanned.iter().map(|part| 150 + part.path.len() + part.lines.len() * 4).sum::<usize>()
            + 500
    }
}

/// A find that is kept.
#[derive(Debug)]
struct Kept {
    owner: Principal,
    made: Instant,
    number: u64,
    bytes: usize,
    seen: Arc<Seen>,
}

/// The finds of everybody.
pub struct Traces {
    most: usize,
    age: Duration,
    kept: Mutex<(u64, HashMap<String, Kept>)>,
}

impl Traces {
    /// Keeps `most` for each principal, none older than `age`.
    pub fn new(most: usize, age: Duration) -> Self {
        Self { most, age, kept: Mutex::default() }
    }

    /// Keeps what a find saw; gives the id to ask for it by.
    pub fn keep(&self, owner: &Principal, seen: Arc<Seen>) -> Result<String, ToolError> {
        let id = new_id()?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, all) = &mut *kept;
        *next += 1;
        let now = Instant::now();
        all.retain(|_, trace| now.duration_since(trace.made) < self.age);
        let bytes = seen.bytes();
        all.insert(id.clone(), Kept { owner: owner.clone(), made: now, number: *next, bytes, seen });
        // One principal's finds push out its own; memory is everybody's.
        while all.values().filter(|trace| trace.owner == *owner).count() > self.most {
            remove_oldest(all, |trace| trace.owner == *owner);
        }
        while all.len() > 1 && all.values().map(|trace| trace.bytes).sum::<usize>() > MOST_BYTES {
            remove_oldest(all, |_| true);
        }
        Ok(id)
    }

    /// What a find saw; only for the principal that made it.
    pub fn get(&self, owner: &Principal, id: &str, argument: &str) -> Result<Arc<Seen>, ToolError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.1.get(id).filter(|trace| trace.owner == *owner && trace.made.elapsed() < self.age);
        found.map(|trace| trace.seen.clone()).ok_or_else(|| {
            let sentence = format!(
                "{argument}: no such trace of yours is kept (they last {} s, the newest {} are kept); call manual_find or vault_find again",
                self.age.as_secs(),
                self.most
            );
            ToolError::new(ErrorKind::NotFound, sentence)
        })
    }
}

fn remove_oldest(all: &mut HashMap<String, Kept>, whose: impl Fn(&Kept) -> bool) {
    let oldest = all.iter().filter(|(_, trace)| whose(trace)).min_by_key(|(_, trace)| trace.number);
    if let Some(id) = oldest.map(|(id, _)| id.clone()) {
        all.remove(&id);
    }
}

/// 128 bits that nobody can guess.
fn new_id() -> Result<String, ToolError> {
    let mut bytes = [0_u8; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| ToolError::internal("the system gives no random numbers"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(unscanned: Vec<Unscanned>) -> Seen {
        Seen {
            target: Target::Manual,
            candidates: Vec::new(),
            top: Vec::new(),
            unscanned,
            conflicts: Vec::new(),
            gaps: Vec::new(),
        }
    }

    #[test]
    fn traces_are_kept_per_principal_and_not_for_long() {
        let traces = Traces::new(2, Duration::from_millis(200));
        let keep = |owner: &Principal| traces.keep(owner, Arc::new(seen(Vec::new()))).unwrap();
        let (mine, theirs) = (Principal::Owner, Principal::Anonymous);
        let (first, other) = (keep(&mine), keep(&theirs));
        assert_eq!(first.len(), 32);
        assert!(
            traces.get(&mine, &first, "trace_id").is_ok() && traces.get(&theirs, &first, "trace_id").is_err()
        );
        let (second, third) = (keep(&mine), keep(&mine));
        assert!(
            traces.get(&mine, &first, "trace_id").is_err()
                && traces.get(&mine, &second, "trace_id").is_ok()
                && traces.get(&mine, &third, "trace_id").is_ok()
        );
        assert!(traces.get(&theirs, &other, "trace_id").is_ok(), "others do not push it out");
        std::thread::sleep(Duration::from_millis(250));
        assert_eq!(traces.get(&mine, &third, "trace_id").unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn memory_is_bounded() {
        let traces = Traces::new(1000, Duration::from_secs(60));
        let part = Unscanned {
            lines: vec![1; 5_000_000],
            ..Unscanned::file(None, "a".into(), Reason::CandidateCap)
        };
        let ids: Vec<_> = (0..5)
            .map(|_| traces.keep(&Principal::Owner, Arc::new(seen(vec![part.clone()]))).unwrap())
            .collect();
        assert!(
            traces.get(&Principal::Owner, &ids[0], "trace_id").is_err()
                && traces.get(&Principal::Owner, &ids[4], "trace_id").is_ok()
        );
    }
}
