// What several servers on one database share, and what each has for itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Issuer, jws, makeKey } from "../tokens/issuer.mjs";
import { balancer, consent, database, done, keys, offer, replicas, request, upstream } from "./parts.mjs";

test("the rate limit counts per server", async (t) => {
  const db = await database(t);
  const service = await upstream(t);
  const servers = await replicas(t, 3, { url: db.url, settings: { RATE_LIMIT_PER_MIN: "5" } });
  const { session_token } = await offer(servers[0].port, service, 1000);
  const port = await balancer(t, servers);
  const ask = { method: "GET", path: `/gpt/user/status?session_token=${session_token}`, key: keys.gpt };
  const statuses = [];
  for (let number = 0; number < 18; number++) statuses.push((await request(port, ask)).status);
  assert.deepEqual(statuses, [...Array(15).fill(200), ...Array(3).fill(429)], "five requests a minute on each of three servers");
  for (const server of servers) {
    const reply = await server.request(ask);
    assert.equal(reply.status, 429);
    assert.match(reply.headers["retry-after"], /^\d+$/);
    // The key of another Annai server is not limited.
    assert.equal((await server.request({ ...ask, key: keys.internal })).status, 200);
  }
});

test("metrics count the movements of budgets without naming campaigns", async (t) => {
  const db = await database(t);
  const service = await upstream(t);
  const [one, two] = await replicas(t, 2, { url: db.url });
  const { session_token, campaign } = await offer(one.port, service, 100);
  for (let number = 0; number < 3; number++) {
    await done(two.port, { path: "/gpt/services/shared/run", body: { session_token, input: "x" } });
  }
  await done(two.port, { method: "PATCH", path: `/campaigns/${campaign}`, key: keys.sponsor, body: { add_budget_cents: 5 } });
  const metrics = async (server) => {
    const { status, text } = await server.request({ method: "GET", path: "/metrics", key: undefined });
    assert.equal(status, 200, text);
    assert.ok(!text.includes("nobody may see") && !text.includes(campaign));
    return Object.fromEntries([...text.matchAll(/^annai_budget_(\w+)_total\{movement="(\w+)"\} (\d+)$/gm)].map(([, what, kind, value]) => [`${what} ${kind}`, Number(value)]));
  };
  // Both budgets of 100 were made on the first server; the runs and the top-up were on the second.
  assert.deepEqual(await metrics(one), { "movements added": 2, "moved_cents added": 200 });
  assert.deepEqual(await metrics(two), {
    "movements added": 1,
    "moved_cents added": 5,
    "movements reserved": 3,
    "moved_cents reserved": 30,
    "movements settled": 3,
    "moved_cents settled": 30,
  });
});

test("a person who signs in with OAuth is the same one on every server", async (t) => {
  const PUBLIC = "https://annai.example.test";
  const issuer = await Issuer.start();
  t.after(() => issuer.down());
  const key = makeKey("replicas", "rsa");
  issuer.keys = [key];
  const scope = "user.read user.write tasks.read tasks.write services.execute";
  const token = (sub, email = `${sub}@example.com`) => jws(key, issuer.claims(`${PUBLIC}/mcp`, { sub, email, email_verified: true, scope }));
  const db = await database(t);
  const service = await upstream(t);
  const servers = await replicas(t, 3, { url: db.url, settings: { OAUTH_ISSUER: issuer.url, PUBLIC_URL: PUBLIC } });
  const { campaign } = await offer(servers[0].port, service, 1000);
  const port = await balancer(t, servers);
  const call = async (to, name, args, bearer) => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
    const reply = await request(to, { path: "/mcp", token: bearer, body });
    return { ...reply, result: reply.json?.result };
  };
  const succeed = async (to, name, args, bearer) => {
    const reply = await call(to, name, args, bearer);
    assert.ok(reply.result && !reply.result.isError, `${name}: ${reply.status} ${reply.text}`);
    return reply.result.structuredContent;
  };

  // Thirty first calls of one person at once, on all servers.
  const hana = token("hana");
  const first = await Promise.all(Array.from({ length: 30 }, () => succeed(port, "get_user_status", {}, hana)));
  assert.equal(new Set(first.map(({ user_id }) => user_id)).size, 1);
  assert.equal(await db.number("SELECT count(*) FROM users WHERE email = 'hana@example.com'"), 1);
  assert.equal(await db.number("SELECT count(*) FROM identities WHERE subject = 'hana'"), 1);

  // The task is completed on one server, the service is run on the next, and the third one shows both.
  const [one, two, three] = servers.map((server) => server.port);
  await succeed(one, "complete_task", { campaign_id: campaign, task_name: "survey", consent }, hana);
  const run = await succeed(two, "run_service", { service: "shared", input: "x" }, hana);
  assert.equal(run.output, "echo: x");
  const status = await succeed(three, "get_user_status", {}, hana);
  assert.deepEqual(status.completed_tasks.map(({ campaign_id }) => campaign_id), [campaign]);

  // Nobody else enters the account, on whatever server, and a token that is not right is refused by each.
  for (const server of [one, two, three]) {
    const other = await call(server, "get_user_status", {}, token("somebody", "hana@example.com"));
    assert.equal(other.result?.isError, true, other.text);
    assert.equal((await call(server, "get_user_status", {}, `${hana.slice(0, -6)}AAAAAA`)).status, 401);
  }
  assert.equal(await db.number("SELECT count(*) FROM identities"), 1);
});
