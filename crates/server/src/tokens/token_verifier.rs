//! Verifies static tokens for a server. The token file is looked at again at most twice a second, so that a change takes
//! effect within a second and a call costs no file access.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use annai_core::{Person, TokenScope};

use super::file::{TokenFile, UnusableFile};
use super::last_use::WRITE_INTERVAL;
use super::platform::Stamp;
use super::record::{TOKEN_ISSUER, TOKEN_PREFIX, TokenRecord, digest_of};

/// How long the content of the token file is used before the file is looked at again.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// The static tokens that a server accepts.
pub struct StaticTokens {
    file: TokenFile,
    /// The scopes that a static token may grant, whatever the file says.
    grantable: BTreeSet<&'static str>,
    state: Mutex<VerifierState>,
}

#[derive(Default)]
struct VerifierState {
    checked_at: Option<Instant>,
    stamp: Option<Stamp>,
    /// The records by digest.
    tokens: Arc<HashMap<String, TokenRecord>>,
    /// Why the last look at the file failed, which was logged then.
    failure: Option<String>,
    /// When the use of each token was last written, in seconds since 1970.
    written_uses: HashMap<String, u64>,
}

impl StaticTokens {
    /// The tokens of a file. `scopes` are those that a static token may grant: not those of tools that need to know a
    /// person.
    pub fn new(file: TokenFile, scopes: &[TokenScope]) -> Self {
        let grantable = scopes.iter().map(|scope| scope.as_str()).collect();
        Self { file, grantable, state: Mutex::default() }
    }

    /// The person that a token identifies. `now` is in seconds since 1970.
    ///
    /// # Errors
    ///
    /// Why the token is refused.
    pub fn verify(&self, token: &str, now: u64) -> Result<Arc<Person>, &'static str> {
        let tokens = self
            .current()
            .ok_or("static tokens cannot be verified at the moment; the server's log says why")?;
        let record = tokens.get(&digest_of(token)).ok_or("the token is unknown or was revoked")?;
        if record.has_expired(now) {
            return Err("the token has expired");
        }
        self.note_use(record, &tokens, now);
        let scopes = record.scopes.iter().filter(|scope| self.grantable.contains(scope.as_str())).cloned();
        Ok(Arc::new(Person {
            issuer: TOKEN_ISSUER.to_owned(),
            subject: record.id.clone(),
            email: None,
            scopes: scopes.collect(),
        }))
    }

    /// Whether a bearer token is a static one, by its prefix.
    pub fn is_static(token: &str) -> bool {
        token.starts_with(TOKEN_PREFIX)
    }

    /// The records by digest, as the file has them now; `None` when it cannot be read or others can read it.
    fn current(&self) -> Option<Arc<HashMap<String, TokenRecord>>> {
        let mut state = self.lock();
        if state.checked_at.is_none_or(|checked_at| checked_at.elapsed() >= CHECK_INTERVAL) {
            self.check_file(&mut state);
        }
        state.failure.is_none().then(|| state.tokens.clone())
    }

    /// Reads the file again if it has changed.
    fn check_file(&self, state: &mut VerifierState) {
        state.checked_at = Some(Instant::now());
        let stamp = match self.file.stamp() {
            Ok(stamp) if stamp == state.stamp && state.failure.is_none() => return,
            stamp => stamp,
        };
        let read = stamp.and_then(|stamp| Ok((stamp, self.file.read()?)));
        let (stamp, records) = match read {
            Ok(read) => {
                state.failure = None;
                read
            }
            Err(error) => {
                log_failure(state, &error);
                (None, Vec::new())
            }
        };
        state.stamp = stamp;
        state.tokens = Arc::new(records.into_iter().map(|record| (record.sha256.clone(), record)).collect());
    }

    /// Writes the time of the use, at most once a minute for each token, on a thread that may wait for the disk.
    fn note_use(&self, record: &TokenRecord, tokens: &Arc<HashMap<String, TokenRecord>>, now: u64) {
        {
            let mut state = self.lock();
            let written = state.written_uses.get(&record.id);
            if written.is_some_and(|written| now < written.saturating_add(WRITE_INTERVAL)) {
                return;
            }
            state.written_uses.retain(|id, _| tokens.values().any(|token| token.id == *id));
            state.written_uses.insert(record.id.clone(), now);
        }
        let (file, id, tokens) = (self.file.clone(), record.id.clone(), tokens.clone());
        let store = move || {
            let tokens: Vec<_> = tokens.values().cloned().collect();
            if let Err(error) = file.store_use(&id, now, &tokens) {
                tracing::warn!(cause = %error, "the last use of a static token cannot be stored");
            }
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(store)),
            Err(_) => store(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VerifierState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Logs why the file cannot be used, once for each reason.
fn log_failure(state: &mut VerifierState, error: &UnusableFile) {
    let cause = error.to_string();
    if state.failure.as_ref() != Some(&cause) {
        tracing::error!(cause, "all static tokens are refused until the token file can be read");
        state.failure = Some(cause);
    }
}
