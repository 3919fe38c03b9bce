-- Attempts that have ended are deleted after some days, oldest first; payments are kept.
CREATE INDEX reservations_ended ON reservations (created_at) WHERE state <> 'reserved';
