// Three servers on one database behind a balancer. Every few seconds one of them is killed while people run services.
import assert from "node:assert/strict";
import { test } from "node:test";
import { balancer, command, database, done, offer, pause, replicas, request, until, upstream } from "./parts.mjs";

/** So much happens at least. On a slow machine it takes longer than a minute. */
const RUNS = 3000;
const KILLS = 15;
const PACE_MS = 60_000 / RUNS;
/** So many requests are open at most; at the pace above there are about 30. Beyond it a slow machine would only fall behind. */
const MAX_OPEN = 60;
const BUDGET = 10 * RUNS * 4;

test("runs survive servers that are killed, and every cent is accounted for", { timeout: 600_000 }, async (t) => {
  const db = await database(t);
  const service = await upstream(t, () => 200 + Math.random() * 600);
  // All three start on an empty database at once.
  const servers = await replicas(t, 3, { url: db.url });
  const port = await balancer(t, servers);
  const { session_token } = await offer(port, service, BUDGET);

  let open = 0;
  const send = async (options) => {
    open += 1;
    return request(port, options).finally(() => (open -= 1));
  };
  /** One run. With a key it is repeated until it has a result, wherever the next request lands; without one it is not. */
  const run = async (number) => {
    const isKeyed = number % 10 !== 0;
    const name = number % 3 === 0 ? "own" : "shared";
    const headers = isKeyed ? { "idempotency-key": `run ${number}` } : {};
    const started = Date.now();
    for (let tries = 1; ; tries++) {
      const reply = await send({ path: `/gpt/services/${name}/run`, headers, body: { session_token, input: `input ${number}` } });
      if (reply.status === 200) return { number, name, isKeyed, tries, reply };
      const code = reply.json?.error?.code;
      // A connection that broke, a machine too busy for the time-outs of database or upstream, an attempt that may be alive.
      const isExpected = reply.status === 0 || reply.headers["x-balancer"] || (reply.status === 503 && code === "unavailable") || code === "upstream_error" || (isKeyed && code === "in_progress");
      assert.ok(isExpected, `run ${number}: ${reply.status} ${reply.text}`);
      if (!isKeyed) return { number, name, isKeyed, tries };
      assert.ok(Date.now() - started < 240_000, `run ${number}: no result after ${tries} tries: ${reply.status} ${reply.text}`);
      await pause(1500 + Math.random() * 1000);
    }
  };

  let kills = 0;
  let failure;
  const pending = [];
  const start = (number) => run(number).catch((error) => void (failure ??= error));
  const load = (async () => {
    const started = Date.now();
    while (!failure && (pending.length < RUNS || kills < KILLS)) {
      const due = Math.floor((Date.now() - started) / PACE_MS);
      while (pending.length < due && open < MAX_OPEN) pending.push(start(pending.length));
      await pause(PACE_MS);
    }
  })();
  const killer = (async () => {
    for (; !failure && kills < KILLS; kills++) {
      await pause(3000);
      const victim = servers[kills % servers.length];
      await victim.kill();
      await pause(500);
      await victim.start();
    }
  })();
  await Promise.all([load, killer]);
  const results = await Promise.all(pending);
  if (failure) throw failure;
  assert.ok(results.length >= RUNS && kills >= KILLS, `${results.length} runs, ${kills} kills`);

  // The leases of the dead end half a minute after their last sign of life.
  const reserved = "SELECT count(*) FROM reservations WHERE state = 'reserved'";
  await until("the leases of the dead are released", async () => (await db.number(reserved)) === 0);
  assert.ok((await db.number("SELECT count(*) FROM reservations WHERE state = 'released'")) > 0, "nobody was killed during a run");
  const repeated = results.filter(({ tries }) => tries > 1).length;
  assert.ok(repeated > 0, "no run had to be repeated");

  // Every run with a key has its own result and its own payment; the upstream knew its attempts by one key.
  const payments = new Map((await db.rows("SELECT tx_hash, status, amount_cents, service FROM payments")).map(([hash, ...rest]) => [hash, rest]));
  const paid = new Set();
  for (const { number, name, isKeyed, reply } of results) {
    if (!reply) {
      assert.ok(!isKeyed);
      continue;
    }
    const { tx_hash, output } = reply.json;
    assert.equal(output, `echo: input ${number}`);
    assert.deepEqual(payments.get(tx_hash), ["settled", "10", name], `run ${number}`);
    assert.ok(service.calls.has(tx_hash), `the upstream does not know the payment of run ${number}`);
    assert.ok(!paid.has(tx_hash), `run ${number} has the payment of another one`);
    paid.add(tx_hash);
  }
  // What was settled beyond that belongs to callers without a key whose connection broke.
  const lost = results.filter(({ reply }) => !reply).length;
  const settled = [...payments.values()].filter(([status]) => status === "settled").length;
  assert.ok(settled >= paid.size && settled <= paid.size + lost, `${settled} settled, ${paid.size} answered, ${lost} lost`);
  // Everything that the upstream was asked for is in the payments, settled or failed, and nothing else is.
  assert.deepEqual([...service.calls.keys()].filter((key) => !payments.has(key)), []);
  const failed = [...payments].filter(([, [status]]) => status === "failed").map(([hash]) => hash);
  assert.ok(failed.length <= lost, `${failed.length} failed, ${lost} lost`);

  // The budgets: exactly what was settled is missing.
  const spent = { shared: 0, own: 0 };
  for (const [status, amount, name] of payments.values()) if (status === "settled") spent[name] += Number(amount);
  assert.equal(await db.number("SELECT budget_remaining_cents FROM campaigns"), BUDGET - spent.shared);
  assert.equal(await db.number("SELECT budget_remaining_cents FROM sponsored_apis WHERE service_key = 'own'"), BUDGET - spent.own);
  assert.equal(await db.number("SELECT coalesce(sum(amount_cents), 0) FROM sponsored_api_calls"), spent.own);
  const check = await command(t, ["campaigns", "--check"], db.url);
  assert.equal(check.status, 0, check.stdout + check.stderr);

  // A retry that lands on any server gets the stored result and costs nothing.
  const calls = service.calls.size;
  for (const { number, name, isKeyed, reply } of results.slice(-30)) {
    if (!isKeyed) continue;
    for (const server of servers) {
      const again = await done(server.port, { path: `/gpt/services/${name}/run`, headers: { "idempotency-key": `run ${number}` }, body: { session_token, input: `input ${number}` } });
      assert.deepEqual(again, reply.json);
    }
  }
  assert.equal(service.calls.size, calls);
  assert.equal([...payments.values()].length, await db.number("SELECT count(*) FROM payments"));
  t.diagnostic(`${results.length} runs, ${kills} kills, ${repeated} repeated, ${lost} without an answer, ${failed.length} failed payments`);
});
