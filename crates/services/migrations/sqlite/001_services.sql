-- The tables of contracts/services-schema.md with SQLite's types: ids are UUIDs in text, times are microseconds since 1970,
-- arrays and objects are JSON in text. Uniqueness that the original tables lack is in tables of its own.

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    region TEXT NOT NULL,
    roles TEXT NOT NULL DEFAULT '[]',
    tools_used TEXT NOT NULL DEFAULT '[]',
    attributes TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL,
    source TEXT DEFAULT 'web'
) STRICT;

CREATE TABLE user_emails (
    email_lower TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE gpt_sessions (
    token TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX gpt_sessions_user ON gpt_sessions (user_id);
CREATE INDEX gpt_sessions_expiry ON gpt_sessions (expires_at);

CREATE TABLE campaigns (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    sponsor TEXT NOT NULL,
    target_roles TEXT NOT NULL DEFAULT '[]',
    target_tools TEXT NOT NULL DEFAULT '[]',
    required_task TEXT NOT NULL,
    subsidy_per_call_cents INTEGER NOT NULL,
    budget_total_cents INTEGER NOT NULL,
    budget_remaining_cents INTEGER NOT NULL CHECK (budget_remaining_cents >= 0),
    query_urls TEXT NOT NULL DEFAULT '[]',
    active INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    sponsor_wallet_address TEXT,
    task_schema TEXT,
    tags TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX campaigns_newest ON campaigns (created_at DESC, id DESC);

-- The entries of target_tools, so that a run looks at the campaigns of its service only.
CREATE TABLE campaign_tools (
    tool TEXT NOT NULL,
    campaign_id TEXT NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    PRIMARY KEY (tool, campaign_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX campaign_tools_campaign ON campaign_tools (campaign_id);

CREATE TABLE sponsored_apis (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    sponsor TEXT NOT NULL,
    description TEXT,
    upstream_url TEXT NOT NULL,
    upstream_method TEXT NOT NULL,
    upstream_headers TEXT NOT NULL DEFAULT '{}',
    price_cents INTEGER NOT NULL,
    budget_total_cents INTEGER NOT NULL,
    budget_remaining_cents INTEGER NOT NULL CHECK (budget_remaining_cents >= 0),
    active INTEGER NOT NULL DEFAULT 1,
    service_key TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sponsored_apis_newest ON sponsored_apis (created_at DESC, id DESC);

CREATE TABLE sponsored_api_calls (
    id TEXT PRIMARY KEY,
    sponsored_api_id TEXT NOT NULL REFERENCES sponsored_apis (id) ON DELETE CASCADE,
    payment_mode TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    tx_hash TEXT,
    caller TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sponsored_api_calls_api ON sponsored_api_calls (sponsored_api_id, payment_mode, amount_cents);

CREATE TABLE task_completions (
    id TEXT PRIMARY KEY,
    campaign_id TEXT NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    task_name TEXT NOT NULL,
    details TEXT,
    created_at INTEGER NOT NULL,
    -- Whether it was there before this program took the database over; then it counts without consents.
    taken_over INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The one completion of a campaign by a user.
CREATE TABLE task_claims (
    campaign_id TEXT NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    task_completion_id TEXT NOT NULL REFERENCES task_completions (id) ON DELETE CASCADE,
    PRIMARY KEY (campaign_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX task_claims_user ON task_claims (user_id);

-- The newest consent of a kind is the one with the largest seq: clocks may jump.
CREATE TABLE consents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    campaign_id TEXT NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    consent_type TEXT NOT NULL CHECK (consent_type IN ('data_sharing', 'contact', 'retention')),
    granted INTEGER NOT NULL,
    purpose TEXT,
    retention_days INTEGER,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX consents_newest ON consents (user_id, campaign_id, consent_type, seq, granted);

CREATE TABLE user_task_preferences (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    task_type TEXT NOT NULL,
    level TEXT NOT NULL CHECK (level IN ('preferred', 'neutral', 'avoided')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (user_id, task_type)
) STRICT;

CREATE TABLE payments (
    tx_hash TEXT PRIMARY KEY,
    campaign_id TEXT REFERENCES campaigns (id) ON DELETE SET NULL,
    service TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    payer TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('user', 'sponsor')),
    status TEXT NOT NULL CHECK (status IN ('settled', 'failed')),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX payments_campaign ON payments (campaign_id, source, status, amount_cents);

-- One attempt of a run. The budget that pays is a campaign's or a sponsored API's.
CREATE TABLE reservations (
    id TEXT PRIMARY KEY,
    campaign_id TEXT REFERENCES campaigns (id),
    sponsored_api_id TEXT REFERENCES sponsored_apis (id),
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    service TEXT NOT NULL,
    sponsor TEXT NOT NULL,
    amount_cents INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('reserved', 'settled', 'released')),
    is_dispatched INTEGER NOT NULL DEFAULT 0,
    lease_counter INTEGER NOT NULL DEFAULT 0,
    tx_hash TEXT NOT NULL,
    idempotency_key TEXT,
    created_at INTEGER NOT NULL,
    CHECK ((campaign_id IS NULL) <> (sponsored_api_id IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX reservations_living ON reservations (campaign_id, sponsored_api_id, amount_cents, lease_counter)
    WHERE state = 'reserved';

-- What a user's key stands for, its newest attempt, and the result for replays.
CREATE TABLE idempotency_keys (
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    reservation_id TEXT NOT NULL,
    service TEXT NOT NULL,
    output BLOB,
    upstream_status INTEGER,
    sponsored_by TEXT,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

-- What a sponsor's key has created or changed.
CREATE TABLE sponsor_keys (
    key TEXT PRIMARY KEY,
    request_hash TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Signed corrections of books that did not balance when a database was taken over.
CREATE TABLE adjustments (
    id TEXT PRIMARY KEY,
    campaign_id TEXT REFERENCES campaigns (id),
    sponsored_api_id TEXT REFERENCES sponsored_apis (id),
    amount_cents INTEGER NOT NULL,
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Another random number whenever something changes that a search shows or finds by, in whatever process, but not with the
-- budgets. A random number cannot repeat after a backup was restored.
CREATE TABLE catalog_version (version INTEGER NOT NULL) STRICT;
INSERT INTO catalog_version (version) VALUES (random());
CREATE TRIGGER campaign_created AFTER INSERT ON campaigns BEGIN
    UPDATE catalog_version SET version = random();
END;
CREATE TRIGGER campaign_changed AFTER UPDATE OF id, name, sponsor, target_tools, required_task, subsidy_per_call_cents,
    active, created_at, task_schema, tags ON campaigns BEGIN
    UPDATE catalog_version SET version = random();
END;
CREATE TRIGGER campaign_deleted AFTER DELETE ON campaigns BEGIN
    UPDATE catalog_version SET version = random();
END;
CREATE TRIGGER sponsored_api_created AFTER INSERT ON sponsored_apis BEGIN
    UPDATE catalog_version SET version = random();
END;
CREATE TRIGGER sponsored_api_changed AFTER UPDATE OF id, name, sponsor, upstream_url, price_cents, active, service_key,
    created_at ON sponsored_apis BEGIN
    UPDATE catalog_version SET version = random();
END;
CREATE TRIGGER sponsored_api_deleted AFTER DELETE ON sponsored_apis BEGIN
    UPDATE catalog_version SET version = random();
END;
