//! The limits of what callers may send and what is kept. Beyond each of them a request is refused with 400.

use std::time::Duration;

/// Names, tasks, tags, roles and search texts: long enough for any of them, short enough to be shown.
pub const MAX_NAME_CHARS: usize = 500;
/// Details of a completed task, instructions and descriptions.
pub const MAX_DETAILS_CHARS: usize = 10_000;
/// The input of a run; about 50,000 words.
pub const MAX_INPUT_CHARS: usize = 200_000;
/// Entries of one list, such as the tags of a campaign.
pub const MAX_LIST_ENTRIES: usize = 50;
/// Characters of a URL; servers and browsers agree on about this much.
pub const MAX_URL_CHARS: usize = 2_048;
/// Characters of an e-mail address, as RFC 5321 limits a path.
pub const MAX_EMAIL_CHARS: usize = 254;
/// Characters of an idempotency key.
pub const MAX_KEY_CHARS: usize = 255;
/// The number of search results or list entries when the caller names no `limit`.
pub const DEFAULT_PAGE: usize = 50;
/// The most search results or list entries of one page.
pub const MAX_PAGE: usize = 200;
/// How long an idempotency key and the stored output of its run are kept.
pub const KEY_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// How long the attempt of a run is kept after it was made, once it is settled or released. Its key needs it for a day, and
/// a process that stalled for longer than two has nobody left to answer. Payments are kept for good.
pub const ATTEMPT_LIFETIME: Duration = Duration::from_secs(48 * 60 * 60);
/// How many expired rows of a table one transaction deletes, so that others wait for it for milliseconds only.
pub const MAX_DELETED_ROWS: usize = 1_000;
/// How long a session lasts.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How many days the details of a task are kept; every consent to the retention records it.
pub const RETENTION_DAYS: i64 = 365;
/// The same as a duration.
pub const RETENTION: Duration = Duration::from_secs(RETENTION_DAYS as u64 * 24 * 60 * 60);
