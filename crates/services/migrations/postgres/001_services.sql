-- The tables of contracts/services-schema.md. Where they exist already, they are left as they are.

CREATE TABLE IF NOT EXISTS users (
    id uuid PRIMARY KEY,
    email text NOT NULL,
    region text NOT NULL,
    roles text[] NOT NULL,
    tools_used text[] NOT NULL,
    attributes jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    source text DEFAULT 'web'
);

CREATE TABLE IF NOT EXISTS gpt_sessions (
    token uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL DEFAULT now() + interval '30 days'
);
CREATE INDEX IF NOT EXISTS gpt_sessions_user_id_idx ON gpt_sessions (user_id);
CREATE INDEX IF NOT EXISTS gpt_sessions_expires_at_idx ON gpt_sessions (expires_at);

CREATE TABLE IF NOT EXISTS campaigns (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    sponsor text NOT NULL,
    target_roles text[] NOT NULL DEFAULT '{}',
    target_tools text[] NOT NULL DEFAULT '{}',
    required_task text NOT NULL,
    subsidy_per_call_cents bigint NOT NULL,
    budget_total_cents bigint NOT NULL,
    budget_remaining_cents bigint NOT NULL,
    query_urls text[] NOT NULL DEFAULT '{}',
    active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now(),
    sponsor_wallet_address text,
    task_schema jsonb,
    tags text[] DEFAULT '{}'
);
CREATE INDEX IF NOT EXISTS campaigns_active_created_at_idx ON campaigns (active, created_at DESC);

CREATE TABLE IF NOT EXISTS sponsored_apis (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    sponsor text NOT NULL,
    description text,
    upstream_url text NOT NULL,
    upstream_method text NOT NULL,
    upstream_headers jsonb NOT NULL DEFAULT '{}',
    price_cents bigint NOT NULL,
    budget_total_cents bigint NOT NULL,
    budget_remaining_cents bigint NOT NULL,
    active boolean NOT NULL DEFAULT true,
    service_key text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS sponsored_api_calls (
    id uuid PRIMARY KEY,
    sponsored_api_id uuid NOT NULL REFERENCES sponsored_apis (id) ON DELETE CASCADE,
    payment_mode text NOT NULL,
    amount_cents bigint NOT NULL,
    tx_hash text,
    caller text,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS task_completions (
    id uuid PRIMARY KEY,
    campaign_id uuid NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    task_name text NOT NULL,
    details text,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS task_completions_campaign_id_user_id_task_name_idx
    ON task_completions (campaign_id, user_id, task_name);

CREATE TABLE IF NOT EXISTS payments (
    tx_hash text PRIMARY KEY,
    campaign_id uuid REFERENCES campaigns (id) ON DELETE SET NULL,
    service text NOT NULL,
    amount_cents bigint NOT NULL,
    payer text NOT NULL,
    source text NOT NULL CHECK (source IN ('user', 'sponsor')),
    status text NOT NULL CHECK (status IN ('settled', 'failed')),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS consents (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    campaign_id uuid NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    consent_type text NOT NULL CHECK (consent_type IN ('data_sharing', 'contact', 'retention')),
    granted boolean NOT NULL,
    purpose text,
    retention_days integer,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS user_task_preferences (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    task_type text NOT NULL,
    level text NOT NULL CHECK (level IN ('preferred', 'neutral', 'avoided')),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, task_type)
);

CREATE TABLE IF NOT EXISTS creator_events (
    id uuid PRIMARY KEY,
    skill_name text NOT NULL,
    platform text NOT NULL,
    event_type text NOT NULL,
    duration_ms bigint,
    success boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Columns that the tables of the system before this one got later, so that an older database may lack them.
ALTER TABLE users ADD COLUMN IF NOT EXISTS source text DEFAULT 'web';
ALTER TABLE campaigns
    ADD COLUMN IF NOT EXISTS sponsor_wallet_address text,
    ADD COLUMN IF NOT EXISTS task_schema jsonb,
    ADD COLUMN IF NOT EXISTS tags text[] DEFAULT '{}';
