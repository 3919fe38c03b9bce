-- The one adjustment of every budget whose books do not balance at the take-over: what the total has more than what
-- remains and is settled. Nothing is reserved yet. Later differences are reported, never booked.

INSERT INTO adjustments (campaign_id, amount_cents, reason)
SELECT c.id, c.budget_total_cents - c.budget_remaining_cents - settled.cents, 'take-over'
FROM campaigns c
CROSS JOIN LATERAL (
    SELECT coalesce(sum(p.amount_cents), 0)::bigint AS cents FROM payments p
    WHERE p.campaign_id = c.id AND p.source = 'sponsor' AND p.status = 'settled'
) AS settled
WHERE c.budget_total_cents <> c.budget_remaining_cents + settled.cents;

INSERT INTO adjustments (sponsored_api_id, amount_cents, reason)
SELECT a.id, a.budget_total_cents - a.budget_remaining_cents - settled.cents, 'take-over'
FROM sponsored_apis a
CROSS JOIN LATERAL (
    SELECT coalesce(sum(l.amount_cents), 0)::bigint AS cents FROM sponsored_api_calls l
    WHERE l.sponsored_api_id = a.id AND l.payment_mode = 'sponsored'
) AS settled
WHERE a.budget_total_cents <> a.budget_remaining_cents + settled.cents;
