-- The tables of contracts/services-schema.md as the system before this one made them, written down independently of the
-- migrations.

CREATE TABLE users (
    id UUID PRIMARY KEY,
    email TEXT NOT NULL,
    region TEXT NOT NULL,
    roles TEXT[] NOT NULL,
    tools_used TEXT[] NOT NULL,
    attributes JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
ALTER TABLE users ADD COLUMN source TEXT DEFAULT 'web';

CREATE TABLE gpt_sessions (
    token UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id UUID NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    expires_at TIMESTAMPTZ NOT NULL DEFAULT NOW() + INTERVAL '30 days'
);
CREATE INDEX idx_gpt_sessions_user_id ON gpt_sessions(user_id);
CREATE INDEX idx_gpt_sessions_expires_at ON gpt_sessions(expires_at);

CREATE TABLE campaigns (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    sponsor TEXT NOT NULL,
    target_roles TEXT[] NOT NULL DEFAULT '{}',
    target_tools TEXT[] NOT NULL DEFAULT '{}',
    required_task TEXT NOT NULL,
    subsidy_per_call_cents BIGINT NOT NULL,
    budget_total_cents BIGINT NOT NULL,
    budget_remaining_cents BIGINT NOT NULL,
    query_urls TEXT[] NOT NULL DEFAULT '{}',
    active BOOLEAN NOT NULL DEFAULT TRUE,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
ALTER TABLE campaigns ADD COLUMN sponsor_wallet_address TEXT;
ALTER TABLE campaigns ADD COLUMN task_schema JSONB;
ALTER TABLE campaigns ADD COLUMN tags TEXT[] DEFAULT '{}';
CREATE INDEX idx_campaigns_active_created ON campaigns(active, created_at DESC);

CREATE TABLE sponsored_apis (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL,
    sponsor TEXT NOT NULL,
    description TEXT,
    upstream_url TEXT NOT NULL,
    upstream_method TEXT NOT NULL,
    upstream_headers JSONB NOT NULL DEFAULT '{}'::jsonb,
    price_cents BIGINT NOT NULL,
    budget_total_cents BIGINT NOT NULL,
    budget_remaining_cents BIGINT NOT NULL,
    active BOOLEAN NOT NULL DEFAULT TRUE,
    service_key TEXT NOT NULL UNIQUE,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

CREATE TABLE sponsored_api_calls (
    id UUID PRIMARY KEY,
    sponsored_api_id UUID NOT NULL REFERENCES sponsored_apis(id) ON DELETE CASCADE,
    payment_mode TEXT NOT NULL,
    amount_cents BIGINT NOT NULL,
    tx_hash TEXT,
    caller TEXT,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

CREATE TABLE task_completions (
    id UUID PRIMARY KEY,
    campaign_id UUID NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
    user_id UUID NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    task_name TEXT NOT NULL,
    details TEXT,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX idx_task_completions_lookup ON task_completions(campaign_id, user_id, task_name);

CREATE TABLE payments (
    tx_hash TEXT PRIMARY KEY,
    campaign_id UUID REFERENCES campaigns(id) ON DELETE SET NULL,
    service TEXT NOT NULL,
    amount_cents BIGINT NOT NULL,
    payer TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('user', 'sponsor')),
    status TEXT NOT NULL CHECK (status IN ('settled', 'failed')),
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

CREATE TABLE consents (
    id UUID PRIMARY KEY,
    user_id UUID NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    campaign_id UUID NOT NULL REFERENCES campaigns(id) ON DELETE CASCADE,
    consent_type TEXT NOT NULL CHECK (consent_type IN ('data_sharing', 'contact', 'retention')),
    granted BOOLEAN NOT NULL,
    purpose TEXT,
    retention_days INTEGER,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);

CREATE TABLE user_task_preferences (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id UUID NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    task_type TEXT NOT NULL,
    level TEXT NOT NULL CHECK (level IN ('preferred', 'neutral', 'avoided')),
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    UNIQUE (user_id, task_type)
);

CREATE TABLE creator_events (
    id UUID PRIMARY KEY,
    skill_name TEXT NOT NULL,
    platform TEXT NOT NULL,
    event_type TEXT NOT NULL,
    duration_ms BIGINT,
    success BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
