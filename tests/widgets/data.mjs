// Results of tools as the server gives them, for states that a real server shows rarely.
const id = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

export const campaign = (n, more = {}) => ({
  service_type: "campaign",
  service_id: id(n),
  name: `Campaign ${n}`,
  sponsor: "Northwind",
  required_task: "developer_survey",
  subsidy_amount_cents: 50,
  category: ["scrape"],
  service_keys: ["scrape"],
  active: true,
  tags: ["web"],
  relevance_score: null,
  ...more,
});

const SERVICES = [
  campaign(1, {
    name: "開発者アンケート 2026",
    required_task: "開発者アンケート",
    tags: ["web", "データ収集"],
    relevance_score: 0.86,
  }),
  campaign(2, {
    name: "Design newsletter",
    sponsor: "Kumo Studio",
    required_task: "newsletter_registration",
    subsidy_amount_cents: 40,
    category: ["logo"],
    service_keys: ["logo"],
    tags: ["design", "branding"],
    relevance_score: 0.62,
  }),
  {
    service_type: "sponsored_api",
    service_id: id(3),
    name: "ウェブ記事の要約",
    sponsor: "あおぞら出版",
    required_task: null,
    subsidy_amount_cents: 5,
    category: ["summarize"],
    service_keys: ["summarize"],
    active: true,
    tags: ["要約"],
    relevance_score: 0.55,
  },
  campaign(4, {
    name: "Cloud cost interview",
    sponsor: "Harbor Cloud",
    required_task: "interview",
    subsidy_amount_cents: 1200,
    category: ["answer"],
    service_keys: ["answer"],
    tags: ["cloud", "finance"],
    relevance_score: 0.41,
  }),
];

export const ok = (structuredContent, _meta = {}) => ({
  content: [{ type: "text", text: structuredContent.message ?? "" }],
  structuredContent,
  _meta,
});
export const failed = (code, message, more = {}) => ({
  isError: true,
  content: [{ type: "text", text: message }],
  _meta: { "annai/error": { code, message, ...more } },
});
export const signIn = () => ({
  ...failed("unauthorized", "このアクションを実行するにはログインが必要です。 (Sign in to do this.)"),
  _meta: {
    "mcp/www_authenticate": [
      'Bearer resource_metadata="https://annai.example.test/.well-known/oauth-protected-resource/mcp"',
    ],
  },
});

export const search = (services = SERVICES, more = {}) =>
  ok({ services, total_count: services.length, message: "services were found.", ...more });
export const nothing = () =>
  search([], {
    applied_filters: { intent: "translate", preferences_applied: false },
    available_categories: ["scrape", "logo", "要約", "answer"],
    message: "No service fits all filters.",
  });

export const task = (more = {}) =>
  ok({
    campaign_id: id(1),
    campaign_name: "開発者アンケート 2026",
    sponsor: "Northwind",
    required_task: "developer_survey",
    task_description: "開発でよく使うツールについて教えてください。2 分ほどで終わります。",
    task_input_format: {
      task_type: "survey",
      required_fields: ["email", "region", "team_size", "website", "feedback"],
      instructions: "すべての項目に入力し、同意の内容を確認してから送信してください。",
    },
    already_completed: false,
    subsidy_amount_cents: 50,
    message: "Complete this task.",
    ...more,
  });
export const completion = (can_use_service = true) =>
  ok({
    task_completion_id: id(9),
    campaign_id: id(1),
    consent_recorded: true,
    can_use_service,
    message: "The task is completed.",
  });

export const status = (more = {}) =>
  ok({
    user_id: id(7),
    email: "me@example.com",
    registered_at: "2026-09-30T16:30:00Z",
    completed_tasks: [
      {
        campaign_id: id(1),
        campaign_name: "開発者アンケート 2026",
        task_name: "developer_survey",
        completed_at: "2026-11-17T03:00:00Z",
      },
      {
        campaign_id: id(2),
        campaign_name: "Design newsletter",
        task_name: "newsletter_registration",
        completed_at: "2026-10-02T20:15:00Z",
      },
    ],
    available_services: [
      { service: "scrape", sponsor: "Northwind", ready: true },
      { service: "summarize", sponsor: "あおぞら出版", ready: true },
      { service: "answer", sponsor: "Harbor Cloud", ready: false },
    ],
    message: "Services ready to run: 2.",
    ...more,
  });
export const newcomer = () => status({ completed_tasks: [], available_services: [] });
export const run = (
  output = "## Pricing\n\n3 pages were read. [The pricing page](https://example.com/pricing) has **three plans**: Free, Team (12 USD) and Business (30 USD).\n\nSources:\n- https://example.com/pricing (2026-11-17)",
  more = {},
) =>
  ok(
    {
      service: "scrape",
      output: output.slice(0, 8000),
      output_truncated: output.length > 8000,
      payment_mode: "sponsored",
      sponsored_by: "Northwind",
      tx_hash: `0x${"8f1c2ab34d5e6f70".repeat(4)}`,
      message: "Paid.",
      ...more,
    },
    { output },
  );
