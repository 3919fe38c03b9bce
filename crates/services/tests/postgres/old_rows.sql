-- What the system before this one has written in a year of service. Ann signed up three times in different case; the oldest
-- row is 1. Ben signed up once.

INSERT INTO users (id, email, region, roles, tools_used, attributes, created_at) VALUES
    ('00000000-0000-4000-8000-000000000002', 'ANN@Example.com', 'US', '{}', '{}', '{}', '2026-02-01'),
    ('00000000-0000-4000-8000-000000000001', 'Ann@example.com', 'JP', '{dev}', '{cursor}', '{"a": 1}', '2026-01-01'),
    ('00000000-0000-4000-8000-000000000003', ' ann@example.COM', 'auto', '{}', '{}', '{}', '2026-03-01'),
    ('00000000-0000-4000-8000-000000000004', 'ben@example.com', 'auto', '{}', '{}', '{}', '2026-01-01'),
    ('00000000-0000-4000-8000-000000000005', 'not an address', '', '{}', '{}', '{}', '2026-01-01');

INSERT INTO gpt_sessions (token, user_id, created_at, expires_at) VALUES
    ('10000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000001', '2026-11-01', '2027-01-01'),
    ('10000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000002', '2026-11-01', '2027-01-01'),
    ('10000000-0000-4000-8000-000000000003', '00000000-0000-4000-8000-000000000003', '2026-11-01', '2027-01-01'),
    ('10000000-0000-4000-8000-000000000004', '00000000-0000-4000-8000-000000000004', '2026-11-01', '2027-01-01');

INSERT INTO sponsored_apis (id, name, sponsor, upstream_url, upstream_method, price_cents, budget_total_cents,
    budget_remaining_cents, service_key, upstream_headers, created_at) VALUES
    ('30000000-0000-4000-8000-000000000001', 'Scrape', 'Scraper Inc', 'https://up.example/run', 'post', 10, 500, 480,
     'scrape', '{"x-key": "k", "x-number": 7}', '2026-01-01'),
    ('30000000-0000-4000-8000-000000000002', 'Read', 'Reader Inc', 'https://up.example/read', 'GET', 10, 100, 100,
     'read', '{}', '2026-01-01'),
    ('30000000-0000-4000-8000-000000000003', 'Draw', 'Draw Inc', 'https://up.example/draw', 'PUT', 5, 100, 90,
     'draw', '{}', '2026-01-01');
-- 20 cents were spent and recorded for scrape; 10 were spent for draw, of which 5 were lost with a failed insert.
INSERT INTO sponsored_api_calls (id, sponsored_api_id, payment_mode, amount_cents) VALUES
    (gen_random_uuid(), '30000000-0000-4000-8000-000000000001', 'sponsored', 10),
    (gen_random_uuid(), '30000000-0000-4000-8000-000000000001', 'sponsored', 10),
    (gen_random_uuid(), '30000000-0000-4000-8000-000000000001', 'user_direct', 10),
    (gen_random_uuid(), '30000000-0000-4000-8000-000000000003', 'sponsored', 5);

INSERT INTO campaigns (id, name, sponsor, target_tools, required_task, subsidy_per_call_cents, budget_total_cents,
    budget_remaining_cents, tags, task_schema, created_at) VALUES
    -- Balanced: 1000 = 970 + 30.
    ('20000000-0000-4000-8000-000000000001', 'Balanced', 'Acme', '{scrape}', 'survey', 50, 1000, 970, NULL, NULL, '2026-01-01'),
    -- 40 cents were taken for a run whose payment was never recorded.
    ('20000000-0000-4000-8000-000000000002', 'Lossy', 'Lossy Inc', '{draw}', 'register', 50, 200, 150, '{}',
     '{"kind": "unknown form"}', '2026-02-01'),
    -- Overdrawn: concurrent runs took more than there was.
    ('20000000-0000-4000-8000-000000000003', 'Overdrawn', 'Poor Inc', '{scrape}', 'survey', 50, 20, -10, '{}', NULL, '2026-03-01');
INSERT INTO payments (tx_hash, campaign_id, service, amount_cents, payer, source, status) VALUES
    ('0x1', '20000000-0000-4000-8000-000000000001', 'scrape', 10, 'ann', 'sponsor', 'settled'),
    ('0x2', '20000000-0000-4000-8000-000000000001', 'scrape', 20, 'ben', 'sponsor', 'settled'),
    ('0x3', '20000000-0000-4000-8000-000000000001', 'scrape', 99, 'ben', 'user', 'settled'),
    ('0x4', '20000000-0000-4000-8000-000000000001', 'scrape', 99, 'ben', 'sponsor', 'failed'),
    ('0x5', '20000000-0000-4000-8000-000000000002', 'draw', 10, 'ann', 'sponsor', 'settled'),
    ('0x6', '20000000-0000-4000-8000-000000000003', 'scrape', 30, 'ann', 'sponsor', 'settled'),
    ('0x7', NULL, 'gone', 30, 'ann', 'sponsor', 'settled');

-- Ann's three rows completed the survey four times; the oldest is that of her second row. Her other task counts for nothing.
INSERT INTO task_completions (id, campaign_id, user_id, task_name, details, created_at) VALUES
    ('40000000-0000-4000-8000-000000000001', '20000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002', 'survey', '{}', '2026-04-01'),
    ('40000000-0000-4000-8000-000000000002', '20000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000001', 'survey', NULL, '2026-05-01'),
    ('40000000-0000-4000-8000-000000000003', '20000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000001', 'survey', NULL, '2026-05-02'),
    ('40000000-0000-4000-8000-000000000004', '20000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000003', 'survey', NULL, '2026-06-01'),
    ('40000000-0000-4000-8000-000000000005', '20000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001', 'something else', NULL, '2026-06-01'),
    ('40000000-0000-4000-8000-000000000006', '20000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000004', 'survey', NULL, '2026-06-01');
-- Ben has agreed first and withdrawn later.
INSERT INTO consents (id, user_id, campaign_id, consent_type, granted, created_at) VALUES
    (gen_random_uuid(), '00000000-0000-4000-8000-000000000004', '20000000-0000-4000-8000-000000000001', 'data_sharing', false, '2026-07-01'),
    (gen_random_uuid(), '00000000-0000-4000-8000-000000000004', '20000000-0000-4000-8000-000000000001', 'data_sharing', true, '2026-06-01');
INSERT INTO user_task_preferences (user_id, task_type, level) VALUES
    ('00000000-0000-4000-8000-000000000001', 'survey', 'preferred'),
    ('00000000-0000-4000-8000-000000000001', '', 'avoided');
INSERT INTO creator_events (id, skill_name, platform, event_type, success) VALUES (gen_random_uuid(), 's', 'p', 'e', true);
