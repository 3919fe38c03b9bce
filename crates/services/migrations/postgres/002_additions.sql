-- What this program adds: tables of its own, and columns that are nullable or have defaults, so that the inserts of the
-- system before this one still work. Uniqueness lives in the added tables, because the old ones may hold duplicates.

-- The oldest user with the same e-mail address, for a younger duplicate whose sessions and completions resolve to it.
ALTER TABLE users ADD COLUMN adopted_by uuid REFERENCES users (id) ON DELETE SET NULL;
CREATE INDEX users_adopted_by ON users (adopted_by) WHERE adopted_by IS NOT NULL;

CREATE TABLE user_emails (
    email_lower text PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX user_emails_user ON user_emails (user_id);

CREATE TABLE identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (issuer, subject)
);

-- Rows that exist now were there before the take-over, and count without consents; later ones do not.
ALTER TABLE task_completions ADD COLUMN taken_over boolean NOT NULL DEFAULT true;
ALTER TABLE task_completions ALTER COLUMN taken_over SET DEFAULT false;

-- The one completion of a campaign's task by a user.
CREATE TABLE task_claims (
    campaign_id uuid NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    task_completion_id uuid NOT NULL UNIQUE REFERENCES task_completions (id) ON DELETE CASCADE,
    PRIMARY KEY (campaign_id, user_id)
);
CREATE INDEX task_claims_user ON task_claims (user_id);

-- The newest consent of a kind is the one with the largest seq: the clocks of replicas differ, and clocks jump.
CREATE SEQUENCE consents_seq;
ALTER TABLE consents ADD COLUMN seq bigint;
UPDATE consents SET seq = ordered.seq
FROM (SELECT id, row_number() OVER (ORDER BY created_at, id) AS seq FROM consents) AS ordered
WHERE ordered.id = consents.id;
SELECT setval('consents_seq', (SELECT count(*) FROM consents) + 1, false);
ALTER TABLE consents ALTER COLUMN seq SET DEFAULT nextval('consents_seq');
ALTER SEQUENCE consents_seq OWNED BY consents.seq;
-- Another program that writes consents may run as another user.
GRANT USAGE ON SEQUENCE consents_seq TO PUBLIC;
CREATE INDEX consents_newest ON consents (user_id, campaign_id, consent_type, seq DESC);

-- One attempt of a run. The budget that pays is a campaign's or a sponsored API's.
CREATE TABLE reservations (
    id uuid PRIMARY KEY,
    campaign_id uuid REFERENCES campaigns (id) ON DELETE CASCADE,
    sponsored_api_id uuid REFERENCES sponsored_apis (id) ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    service text NOT NULL,
    sponsor text NOT NULL,
    amount_cents bigint NOT NULL,
    state text NOT NULL CHECK (state IN ('reserved', 'settled', 'released')),
    is_dispatched boolean NOT NULL DEFAULT false,
    lease_counter bigint NOT NULL DEFAULT 0,
    tx_hash text NOT NULL,
    idempotency_key text,
    created_at timestamptz NOT NULL,
    CHECK ((campaign_id IS NULL) <> (sponsored_api_id IS NULL))
);
CREATE INDEX reservations_living ON reservations (campaign_id, sponsored_api_id) WHERE state = 'reserved';

-- What a user's key stands for, its newest attempt, and the result for replays.
CREATE TABLE idempotency_keys (
    user_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key text NOT NULL,
    request_hash text NOT NULL,
    tx_hash text NOT NULL,
    reservation_id uuid NOT NULL,
    service text NOT NULL,
    output bytea,
    upstream_status integer,
    sponsored_by text,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

-- What a sponsor's key has created or changed.
CREATE TABLE sponsor_keys (
    key text PRIMARY KEY,
    request_hash text NOT NULL,
    resource_id uuid NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Signed corrections of books that did not balance when the database was taken over.
CREATE TABLE adjustments (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    campaign_id uuid REFERENCES campaigns (id) ON DELETE CASCADE,
    sponsored_api_id uuid REFERENCES sponsored_apis (id) ON DELETE CASCADE,
    amount_cents bigint NOT NULL,
    reason text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((campaign_id IS NULL) <> (sponsored_api_id IS NULL))
);
CREATE INDEX adjustments_campaign ON adjustments (campaign_id);
CREATE INDEX adjustments_sponsored_api ON adjustments (sponsored_api_id);

-- A run looks at the campaigns of its service only.
CREATE INDEX campaigns_target_tools ON campaigns USING gin (target_tools);
-- Lists are paged newest first.
CREATE INDEX campaigns_newest ON campaigns (created_at DESC, id DESC);
CREATE INDEX sponsored_apis_newest ON sponsored_apis (created_at DESC, id DESC);
-- The books and the dashboard sum what is settled.
CREATE INDEX payments_settled ON payments (campaign_id) INCLUDE (amount_cents)
    WHERE source = 'sponsor' AND status = 'settled';
CREATE INDEX sponsored_api_calls_settled ON sponsored_api_calls (sponsored_api_id) INCLUDE (amount_cents)
    WHERE payment_mode = 'sponsored';

-- Another random value whenever something changes that a search shows or finds by, in whatever program, but not with the
-- budgets. A random value cannot repeat after a backup was restored.
CREATE TABLE catalog_version (version uuid NOT NULL);
INSERT INTO catalog_version (version) VALUES (gen_random_uuid());
-- It runs with the rights of its owner, so that any program that may write campaigns may still do so.
CREATE FUNCTION annai_change_catalog_version() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS
$$ BEGIN UPDATE catalog_version SET version = gen_random_uuid(); RETURN NULL; END $$;
CREATE TRIGGER annai_campaigns_listed AFTER INSERT OR DELETE OR TRUNCATE ON campaigns
    FOR EACH STATEMENT EXECUTE FUNCTION annai_change_catalog_version();
CREATE TRIGGER annai_campaigns_changed AFTER UPDATE OF id, name, sponsor, target_tools, required_task,
    subsidy_per_call_cents, active, created_at, task_schema, tags ON campaigns
    FOR EACH STATEMENT EXECUTE FUNCTION annai_change_catalog_version();
CREATE TRIGGER annai_sponsored_apis_listed AFTER INSERT OR DELETE OR TRUNCATE ON sponsored_apis
    FOR EACH STATEMENT EXECUTE FUNCTION annai_change_catalog_version();
CREATE TRIGGER annai_sponsored_apis_changed AFTER UPDATE OF id, name, sponsor, upstream_url, upstream_method, price_cents,
    active, service_key, created_at ON sponsored_apis
    FOR EACH STATEMENT EXECUTE FUNCTION annai_change_catalog_version();
