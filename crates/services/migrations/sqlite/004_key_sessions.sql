-- Whose result a key replays: that of the session with this hash, or, where it is null, of any session of a verified person.
ALTER TABLE idempotency_keys ADD COLUMN session_hash TEXT;
-- Nobody knows which sessions of people who are not verified have stored results; nobody gets those.
UPDATE idempotency_keys SET session_hash = '' WHERE user_id NOT IN (SELECT user_id FROM identities);
