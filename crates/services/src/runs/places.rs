//! The places for runs in progress, in all and for one person. A run goes on when its caller leaves, so the server's places
//! for calls do not limit them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use annai_core::Identity;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many runs may be in progress in this process. Each may hold a connection, an input of 800 kB and a reply of 1 MiB, so
/// this is about half a gigabyte at the very worst. Further runs wait, and nothing is reserved for them meanwhile.
const MAX_RUNS: usize = 256;
/// How many of them may be one person's, so that nobody keeps a service or a budget from the others. Further ones wait.
const MAX_RUNS_PER_PERSON: usize = 32;

/// Who runs: the issuer and the subject.
type Caller = (String, String);

/// The places of this process.
pub struct RunPlaces {
    all: Arc<Semaphore>,
    people: Mutex<HashMap<Caller, Arc<Semaphore>>>,
}

/// A place, which is free again when it is dropped.
pub struct RunPlace {
    _own: Option<OwnedSemaphorePermit>,
    _of_all: Option<OwnedSemaphorePermit>,
}

impl Default for RunPlaces {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(MAX_RUNS)), people: Mutex::default() }
    }
}

impl RunPlaces {
    /// Waits for a place of a person.
    pub async fn acquire(&self, identity: &Identity) -> RunPlace {
        // A person who waits for a place of their own takes none of the others'. Semaphores that are never closed never fail.
        let own = self.of_person(identity).acquire_owned().await.ok();
        let of_all = self.all.clone().acquire_owned().await.ok();
        RunPlace { _own: own, _of_all: of_all }
    }

    fn of_person(&self, identity: &Identity) -> Arc<Semaphore> {
        let caller = match identity {
            Identity::Person(person) => (person.issuer.clone(), person.subject.clone()),
            Identity::Owner | Identity::Anonymous => Default::default(),
        };
        let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        // People without a run are forgotten: a place, and whoever waits for one, has a reference too.
        people.retain(|_, places| Arc::strong_count(places) > 1);
        people.entry(caller).or_insert_with(|| Arc::new(Semaphore::new(MAX_RUNS_PER_PERSON))).clone()
    }
}

#[cfg(test)]
mod tests {
    use annai_core::Person;
    use futures_util::FutureExt as _;

    use super::*;

    fn person(subject: usize) -> Identity {
        let (issuer, subject) = ("i".to_owned(), subject.to_string());
        Identity::Person(Arc::new(Person { issuer, subject, email: None, scopes: Default::default() }))
    }

    #[test]
    fn one_person_leaves_places_to_others_and_all_together_are_limited() {
        let places = RunPlaces::default();
        let take = |subject| places.acquire(&person(subject)).now_or_never();
        let mut taken: Vec<_> = (0..MAX_RUNS_PER_PERSON).map(|_| take(0).unwrap()).collect();
        assert!(take(0).is_none());
        let people = MAX_RUNS / MAX_RUNS_PER_PERSON;
        for subject in 1..people {
            taken.extend((0..MAX_RUNS_PER_PERSON).map(|_| take(subject).unwrap()));
        }
        assert!(take(people).is_none());
        taken.truncate(MAX_RUNS - 1);
        assert!(take(people).is_some());
        drop(taken);
        assert!(take(0).is_some());
        assert_eq!(places.people.lock().unwrap().len(), 1, "nobody else is remembered");
    }
}
