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
/// The size of the texts on one page of a list in bytes, beyond which the page ends early. A campaign with the longest texts
/// has half a megabyte, and 200 of them would be a reply of 100 MB; ordinary pages of 200 have less than half of this.
pub const MAX_PAGE_BYTES: usize = 1 << 20;
/// The size of the texts of the results of one search in bytes. Models read them, and the tool's reply has them three times;
/// ordinary results of 200 have a quarter of this.
pub const MAX_SEARCH_BYTES: usize = 256 << 10;
/// The number of sessions of one verified person. A further sign-in ends the oldest, so that whoever signs in again and again
/// does not fill the database for thirty days.
pub const MAX_SESSIONS: usize = 100;
/// How often somebody who is not verified may sign in to one account within [`SIGN_IN_WINDOW`]: once a minute. Such sessions
/// may be different people's, so a further sign-in is refused (429) and ends none of them.
pub const MAX_SIGN_INS: usize = 60;
/// How long the sign-ins to one account are counted together.
pub const SIGN_IN_WINDOW: Duration = Duration::from_secs(60 * 60);
/// How many answers to each question of consent are kept for one person and campaign; older ones are deleted. The newest
/// counts, and this is more often than anybody changes their mind.
pub const MAX_CONSENTS: usize = 100;
/// How many living idempotency keys one person may have: one every 17 seconds, all day.
pub const MAX_KEYS: u64 = 5_000;
/// The size of the outputs that are stored under the keys of one person, in bytes. An output may have a megabyte, and is
/// kept for a day.
pub const MAX_STORED_OUTPUT_BYTES: u64 = 64 << 20;
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
