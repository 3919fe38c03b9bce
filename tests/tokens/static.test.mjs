// Static tokens: `annai token new`, `list` and `revoke`, the file that keeps them, and a server that reads it.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync, writeFileSync,
} from "node:fs";
import { after, before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { ANNAI, PUBLIC, bytes, call, challenge, defaultTokenFile, environment, get, join, newToken, raw, read, refusedResult, request, run, sleep, start, until, words, workspace, write } from "./annai.mjs";

const FORM = /^annai_[A-Za-z0-9_-]{43}$/;
const SERVICES = ["user.read", "user.write", "tasks.read", "tasks.write", "services.execute"];
const servers = [];
after(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  for (const server of servers) assert.ok(!server.log().includes('"panic"'), server.log());
});

/** A server that trusts nobody but tokens. */
async function serve(folder, options = {}) {
  const server = await start({ folder, ...options, env: { PUBLIC_URL: PUBLIC, ...options.env } });
  servers.push(server);
  return server;
}

const mode = (path) => (statSync(path).mode & 0o7777).toString(8);
const list = async (folder, options) => {
  const shown = await run(folder, ["token", "list", "--json"], options);
  assert.equal(shown.code, 0, shown.stderr);
  const parsed = JSON.parse(shown.stdout);
  return Array.isArray(parsed) ? parsed : parsed.tokens;
};
const named = async (folder, name) => (await list(folder)).find((entry) => entry.name === name);
const status = async (server, token) => (await read(server, { token })).status;
/** How long until the server answers so. A change is effective within a second; a busy machine is given longer. */
async function becomes(server, token, wanted, within = 20_000) {
  const took = await until(async () => (await status(server, token)) === wanted, within, 40);
  assert.notEqual(took, null, `not ${wanted} within ${within} ms but ${await status(server, token)}; log:\n${server.lines.slice(-5).join("\n")}`);
  return took;
}
/** Waits until the servers have read the token file as it is now: they know a token that is made after everything else. */
async function reread(folder, ...servers) {
  const token = await newToken(folder, `marker${(markers += 1)}`);
  for (const server of servers) await becomes(server, token, 200);
}
let markers = 0;
/** The entries of the file, wherever they stand in it. */
const entriesOf = (document) => (Array.isArray(document) ? document : (document.tokens ?? Object.values(document).find(Array.isArray)));
/** Rewrites the file as an editor would: a new file in its place, mode 0600. */
function edit(path, change) {
  const document = JSON.parse(readFileSync(path, "utf8"));
  change(entriesOf(document), document);
  writeFileSync(`${path}.edit`, JSON.stringify(document, null, 2), { mode: 0o600 });
  renameSync(`${path}.edit`, path);
}
const memory = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

describe("making one", { concurrency: 3 }, () => {
  test("its form, its bits, and where it is not", async () => {
    const folder = workspace();
    const path = defaultTokenFile(folder);
    const made = [];
    for (let n = 0; n < 16; n += 1) {
      const { code, stdout, stderr } = await run(folder, ["token", "new", `name-${n}`, "--scope", "library.read"]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^[^\n]+\n$/, "the token and nothing else");
      const token = stdout.trim();
      assert.match(token, FORM);
      assert.ok(!stderr.includes(token) && !stderr.includes(token.slice(6, 40)), "only once");
      assert.ok(stderr.trim(), "the explanation");
      made.push(token);
    }
    const random = made.map((token) => Buffer.from(token.slice(6), "base64url"));
    for (const [n, each] of random.entries()) {
      assert.equal(each.length, 32);
      assert.equal(each.toString("base64url"), made[n].slice(6), "canonical");
    }
    assert.equal(new Set(made).size, made.length);
    const ones = random.flatMap((each) => [...each]).reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0) / (256 * random.length);
    assert.ok(ones > 0.44 && ones < 0.56, `${ones} of the bits are set`);
    for (let at = 0; at < 32; at += 1) assert.ok(new Set(random.map((each) => each[at])).size > 4, `byte ${at} hardly changes`);

    assert.equal(mode(path), "600");
    const text = readFileSync(path, "utf8");
    const shown = `${(await run(folder, ["token", "list"])).stdout}${(await run(folder, ["token", "list", "--json"])).stdout}`;
    for (const token of made) {
      for (const part of [token, token.slice(6), token.slice(6, 26), token.slice(20, 40), Buffer.from(token.slice(6), "base64url").toString("hex"), Buffer.from(token.slice(6), "base64url").toString("base64")]) {
        assert.ok(!text.includes(part), "the file has the token");
        assert.ok(!shown.includes(part), "the list has the token");
      }
      const hash = createHash("sha256").update(token).digest();
      assert.ok(["hex", "base64", "base64url"].some((form) => text.toLowerCase().includes(hash.toString(form).toLowerCase())), "its SHA-256");
    }
    for (const entry of await list(folder)) {
      assert.ok(entry.id && typeof entry.id === "string");
      assert.ok(made.every((token) => !token.includes(entry.id)), "an id is not a part of its token");
      assert.deepEqual(entry.scopes, ["library.read"]);
    }
    assert.equal(new Set((await list(folder)).map((entry) => entry.id)).size, made.length);
    for (const name of readdirSync(join(folder, "data/annai"))) {
      const file = join(folder, "data/annai", name);
      assert.ok((statSync(file).mode & 0o077) === 0 || statSync(file).size === 0, `${name} is ${mode(file)}`);
      assert.ok(!/tmp|temp|~$|\.new$/.test(name), `left behind: ${name}`);
    }
  });

  test("0600 whatever the umask; the folder is the owner's", async (t) => {
    for (const mask of ["000", "002", "022", "077", "777"]) {
      const folder = workspace();
      const made = await run(folder, ["-c", `umask ${mask}; exec "$0" token new x --scope library.read`, ANNAI], { command: "/bin/sh" });
      if (mask === "777" && made.code !== 0) continue;
      assert.equal(made.code, 0, made.stderr);
      assert.equal(mode(defaultTokenFile(folder)), "600", `umask ${mask}`);
      if (mask === "000") {
        t.diagnostic(`data/annai under umask 000: ${mode(join(folder, "data/annai"))}`);
        assert.equal(statSync(join(folder, "data/annai")).mode & 0o022, 0, "others could replace the file");
      }
    }
  });

  test("where it is kept: ANNAI_TOKEN_FILE, the setting, XDG_DATA_HOME, HOME", async () => {
    const folder = workspace();
    await newToken(folder, "a", ["library.read"], [], { env: { ANNAI_TOKEN_FILE: join(folder, "own.json") } });
    assert.equal(mode(join(folder, "own.json")), "600");
    assert.ok(!existsSync(defaultTokenFile(folder)));
    writeFileSync(join(folder, "c.yaml"), `server:\n  token_file: ${join(folder, "set.json")}\n`);
    const made = await run(folder, ["--config", join(folder, "c.yaml"), "token", "new", "b", "--scope", "library.read"]);
    assert.equal(made.code, 0, made.stderr);
    assert.ok(existsSync(join(folder, "set.json")));
    await newToken(folder, "c", ["library.read"], [], { env: { XDG_DATA_HOME: "" } });
    assert.ok(existsSync(join(folder, "home/.local/share/annai/tokens.json")));
  });

  test("scopes", async () => {
    const folder = workspace();
    const refusedScopes = [...SERVICES, "foo", "", " ", "*", "library.*", "library", "Library.Read", "LIBRARY.READ", "library.read ", "library.readx", "openid", "annai:owner", "library.read\nlibrary.write", 'x"y'];
    for (const scope of refusedScopes) {
      const made = await run(folder, ["token", "new", "x", "--scope", scope]);
      assert.notEqual(made.code, 0, `${JSON.stringify(scope)} was granted`);
      assert.equal(made.stdout, "");
      assert.ok(made.stderr.trim());
      assert.ok(!/panicked/.test(made.stderr));
    }
    for (const scope of SERVICES) assert.notEqual((await run(folder, ["token", "new", "x", "--scope", "library.read", "--scope", scope])).code, 0, `library.read and ${scope}`);
    const none = await run(folder, ["token", "new", "x"]);
    assert.notEqual(none.code, 0, "a token without scopes is good for nothing");
    assert.ok(!existsSync(defaultTokenFile(folder)) || (await list(folder)).length === 0, "nothing was made");
    await newToken(folder, "all", ["answers.use", "library.read", "library.write", "metrics.read", "library.read"]);
    assert.deepEqual((await named(folder, "all")).scopes.toSorted(), ["answers.use", "library.read", "library.write", "metrics.read"]);
  });

  test("names", async (t) => {
    const folder = workspace();
    for (const name of ["", " ", "\t", "a\nb", "a\u0007b", "\u001b[31mred", "a\u0000b".replace("\u0000", "\u0001"), "\u202eevil", "-x", "--scope"]) {
      const made = await run(folder, ["token", "new", name, "--scope", "library.read"]);
      assert.notEqual(made.code, 0, `${JSON.stringify(name)} was taken`);
      assert.equal(made.stdout, "");
      assert.ok(!/panicked/.test(made.stderr));
      assert.ok(!made.stderr.includes("\u0007") && !/\u001b\[31mred/.test(made.stderr), "its control characters reach the terminal");
    }
    const long = await run(folder, ["token", "new", "n".repeat(1000), "--scope", "library.read"]);
    t.diagnostic(`a name of 1,000 characters: exit ${long.code}`);
    assert.ok(!/panicked/.test(long.stderr));
    const dashed = await run(folder, ["token", "new", "--scope", "library.read", "--", "-x"]);
    t.diagnostic(`the name -x behind --: exit ${dashed.code}`);
    for (const name of ["案内 ボット", "Ünïcode", "a/b", "../x", "a b", "O'Neil \"q\"", "$(id)", "🙂"]) {
      const made = await run(folder, ["token", "new", name, "--scope", "library.read"]);
      if (made.code !== 0) {
        t.diagnostic(`${name}: refused: ${made.stderr.trim().slice(0, 100)}`);
        continue;
      }
      assert.ok((await named(folder, name)), name);
      assert.equal((await run(folder, ["token", "revoke", name])).code, 0, `revoke ${name}`);
    }
    assert.equal((await run(folder, ["token", "list"])).code, 0);
  });

  test("a second token of the same name, and a name that is another's id", async (t) => {
    const folder = workspace();
    const one = await newToken(folder, "ci");
    const twice = await run(folder, ["token", "new", "ci", "--scope", "library.read"]);
    t.diagnostic(`the same name twice: exit ${twice.code}`);
    const { id } = await named(folder, "ci");
    const squat = await run(folder, ["token", "new", id, "--scope", "library.write"]);
    t.diagnostic(`a name that is another's id: exit ${squat.code}`);
    const server = await serve(folder);
    assert.equal(await status(server, one), 200);
    if (twice.code === 0) {
      // By name it is not clear which one is meant: both end, or neither does and the command says so.
      const revoked = await run(folder, ["token", "revoke", "ci"]);
      const other = twice.stdout.trim();
      await reread(folder, server);
      const after = [await status(server, one), await status(server, other)];
      assert.deepEqual(after, revoked.code === 0 ? [401, 401] : [200, 200], `revoke by a shared name: exit ${revoked.code}, ${after}`);
    }
    if (squat.code === 0) {
      const revoked = await run(folder, ["token", "revoke", id]);
      await reread(folder, server);
      const ended = await status(server, one);
      assert.ok(revoked.code !== 0 || ended === 401, "revoke by id ended another token, and this one lives");
    }
  });

  test("--expires", async (t) => {
    const folder = workspace();
    for (const value of ["", "abc", "-1d", "0d", "1.5d", "d", "99999999999999999999d", "9999999999d", "9999999999999w", "18446744073709551615h", "1d1", "1dd", "１d", "NaN", "inf", "1e3d", "tomorrow", "90 d", "0x10d", "+1d ", "2020-01-01"]) {
      const made = await run(folder, ["token", "new", "x", "--scope", "library.read", `--expires=${value}`]);
      assert.notEqual(made.code, 0, `--expires=${value} was taken`);
      assert.equal(made.stdout, "");
      assert.ok(!/panicked/.test(made.stderr), made.stderr);
    }
    for (const value of ["90", "90D", "1y", "30m", "10s", "NEVER", "0", "36500d", "+1d"]) {
      const made = await run(folder, ["token", "new", `odd ${value}`, "--scope", "library.read", "--expires", value]);
      assert.ok(!/panicked/.test(made.stderr), made.stderr);
      t.diagnostic(`--expires ${value}: exit ${made.code}${made.code === 0 ? ` → ${JSON.stringify((await named(folder, `odd ${value}`)).expires)}` : ""}`);
    }
    const seconds = (value) => (typeof value === "number" ? (value > 1e11 ? value / 1000 : value) : Date.parse(value) / 1000);
    const expiry = (entry) => entry.expires ?? entry.expires_at ?? null;
    for (const [args, days] of [[[], 90], [["--expires", "90d"], 90], [["--expires", "12h"], 0.5], [["--expires", "2w"], 14]]) {
      const name = `e${args.join("")}`;
      await newToken(folder, name, ["library.read"], args);
      const left = seconds(expiry(await named(folder, name))) - Date.now() / 1000;
      assert.ok(Math.abs(left - days * 86400) < 86400 * (days > 1 ? 1.01 : 0.01), `${name}: ${left / 86400} days`);
    }
    await newToken(folder, "forever", ["library.read"], ["--expires", "never"]);
    const forever = expiry(await named(folder, "forever"));
    assert.ok(forever === null || forever === "never", JSON.stringify(forever));
  });

  test("a full disk and a closed pipe: no success without a token in somebody's hands", async () => {
    const folder = workspace();
    const full = await run(folder, ["-c", 'exec "$0" token new x --scope library.read > /dev/full', ANNAI], { command: "/bin/sh" });
    assert.notEqual(full.code, 0, "a token that nobody saw");
    assert.ok(!/panicked/.test(full.stderr), full.stderr);
    const closed = await run(folder, ["-c", 'exec "$0" token new y --scope library.read >&-', ANNAI], { command: "/bin/sh" });
    assert.ok(!/panicked/.test(closed.stderr), closed.stderr);
  });

  test("a read-only folder", async () => {
    const folder = workspace();
    mkdirSync(join(folder, "ro"));
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "ro"), 0o555);
    const nobody = process.getuid() === 0 ? { uid: 65534, gid: 65534 } : {};
    const env = { ANNAI_TOKEN_FILE: join(folder, "ro/tokens.json") };
    const made = await run(folder, ["token", "new", "x", "--scope", "library.read"], { env, ...nobody });
    assert.notEqual(made.code, 0);
    assert.equal(made.stdout, "", "no token that was not stored");
    assert.match(made.stderr, /tokens\.json|ro/, "says where");
    assert.ok(!/panicked/.test(made.stderr));
    const deep = await run(folder, ["token", "new", "x", "--scope", "library.read"], { env: { ANNAI_TOKEN_FILE: join(folder, "vault/a/b/c/tokens.json") } });
    if (deep.code === 0) assert.equal(mode(join(folder, "vault/a/b/c/tokens.json")), "600");
    else assert.equal(deep.stdout, "");
  });

  test("revoke what is not there", async () => {
    const folder = workspace();
    assert.notEqual((await run(folder, ["token", "revoke", "x"])).code, 0);
    const token = await newToken(folder, "a-name");
    const { id } = await named(folder, "a-name");
    const hash = createHash("sha256").update(token).digest("hex");
    for (const wrong of ["", " ", "x", id.slice(0, -1), id.slice(0, 1), `${id}x`, id.toUpperCase() === id ? `${id}.` : id.toUpperCase(), "a-nam", "A-NAME", "*", ".*", "%", hash, "null", "0"]) {
      assert.notEqual((await run(folder, ["token", "revoke", wrong])).code, 0, `revoke ${JSON.stringify(wrong)}`);
    }
    assert.equal((await list(folder)).length, 1);
    assert.equal((await run(folder, ["token", "revoke", "a-name"])).code, 0);
    assert.notEqual((await run(folder, ["token", "revoke", "a-name"])).code, 0, "twice");
  });
});

// Most of these wait for the clock, so they wait together.
describe("the file and its readers", { concurrency: 3 }, () => {
  describe("two processes at once", () => {
    test("20 × token new: all survive, and no reader sees half a file", async () => {
      const folder = workspace();
      const path = defaultTokenFile(folder);
      await newToken(folder, "zero");
      // A thread of its own, because starting processes keeps this one busy.
      const going = new Int32Array(new SharedArrayBuffer(4)).fill(1);
      const reader = new Worker(
        `const { parentPort, workerData: { path, going } } = require("node:worker_threads");
         const { readFileSync, statSync } = require("node:fs");
         let looks = 0;
         const problems = [];
         while (Atomics.load(going, 0)) {
           try {
             JSON.parse(readFileSync(path, "utf8"));
             if (statSync(path).mode & 0o077) problems.push("others can read it");
           } catch (error) {
             problems.push(String(error));
           }
           looks += 1;
           Atomics.wait(going, 0, 1, 1);
         }
         parentPort.postMessage({ looks, problems: problems.slice(0, 3) });`,
        { eval: true, workerData: { path, going } },
      );
      const seen = new Promise((resolve, reject) => reader.once("message", resolve).once("error", reject));
      const made = await Promise.all(Array.from({ length: 20 }, (_, n) => newToken(folder, `p${n}`)));
      Atomics.store(going, 0, 0);
      const { looks, problems } = await seen;
      assert.deepEqual(problems, []);
      assert.ok(looks > 20, `${looks} looks`);
      assert.equal(new Set(made).size, 20);
      assert.equal((await list(folder)).length, 21);
      const server = await serve(folder);
      for (const token of made) assert.equal(await status(server, token), 200);
      // Ending half of them while others are made.
      const names = Array.from({ length: 10 }, (_, n) => `p${n}`);
      const [more] = await Promise.all([
        Promise.all(Array.from({ length: 8 }, (_, n) => newToken(folder, `q${n}`))),
        ...names.map(async (name) => assert.equal((await run(folder, ["token", "revoke", name])).code, 0)),
      ]);
      await reread(folder, server);
      for (const [n, token] of made.entries()) assert.equal(await status(server, token), n < 10 ? 401 : 200, `p${n}`);
      for (const token of more) assert.equal(await status(server, token), 200);
    });

    test("a server that notes last uses brings no revoked token back and loses no new one", async () => {
      const folder = workspace();
      const users = await Promise.all(Array.from({ length: 3 }, (_, n) => newToken(folder, `user${n}`)));
      const [server, twin] = [await serve(folder), await serve(folder)];
      let going = true;
      const load = [server, twin].map(async (one) => {
        while (going) await Promise.all(users.map((token) => read(one, { token })));
      });
      const doomed = [];
      const kept = [];
      for (let round = 0; round < 5; round += 1) {
        const token = await newToken(folder, `doomed${round}`);
        await becomes(server, token, 200);
        assert.equal((await run(folder, ["token", "revoke", `doomed${round}`])).code, 0);
        doomed.push(token);
        kept.push(await newToken(folder, `kept${round}`));
      }
      await reread(folder, server, twin);
      going = false;
      await Promise.all(load);
      for (const one of [server, twin]) {
        for (const token of doomed) assert.equal(await status(one, token), 401, "a revoked token is back");
        for (const token of [...kept, ...users]) assert.equal(await status(one, token), 200);
      }
      assert.deepEqual((await list(folder)).map((entry) => entry.name).filter((name) => name.startsWith("doomed")), []);
    });

    test("a process that is killed while it writes leaves a good file", async () => {
      const folder = workspace();
      const first = await newToken(folder, "first");
      for (let round = 0; round < 12; round += 1) {
        const child = spawn(ANNAI, ["token", "new", `k${round}`, "--scope", "library.read"], { env: environment(folder), stdio: "ignore" });
        const ended = new Promise((resolve) => child.once("exit", resolve));
        // The moment of the kill is what is varied.
        setTimeout(() => child.kill("SIGKILL"), 2 + round * 4);
        await ended;
        JSON.parse(readFileSync(defaultTokenFile(folder), "utf8"));
      }
      const last = await newToken(folder, "last");
      const server = await serve(folder);
      assert.deepEqual([await status(server, first), await status(server, last)], [200, 200]);
    });

    test("somebody who holds the lock does not stop the server", async () => {
      const folder = workspace();
      const token = await newToken(folder, "a");
      const server = await serve(folder);
      const holders = readdirSync(join(folder, "data/annai")).map((name) => {
        const child = spawn("flock", ["-x", join(folder, "data/annai", name), "-c", "echo held; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"], detached: true });
        child.on("error", () => {});
        return child;
      });
      for (const child of holders) await new Promise((resolve) => child.stdout.once("data", resolve).once("close", resolve));
      for (let times = 0; times < 5; times += 1) {
        const reply = await read(server, { token });
        assert.equal(reply.status, 200);
        assert.ok(reply.ms < 20_000, `${reply.ms} ms`);
        // The uses are spread over a second, so that some of them are due to be noted.
        await sleep(200);
      }
      const started = Date.now();
      const code = await server.stop();
      assert.equal(code, 0, `stopped with ${code}`);
      assert.ok(Date.now() - started < 30_000, `stops after ${Date.now() - started} ms: it waits for the lock`);
      for (const child of holders) {
        try {
          process.kill(-child.pid);
        } catch {
          // It has ended.
        }
      }
    });
  });

  // These edit one file without its lock, so they take turns; a suite inherits its parent's concurrency.
  describe("a server with static tokens", { concurrency: false }, () => {
    let folder, path, server, token, id;
    before(async () => {
      folder = workspace();
      path = defaultTokenFile(folder);
      token = await newToken(folder, "reader");
      ({ id } = await named(folder, "reader"));
      server = await serve(folder);
    });

    test("reads, and does not write", async () => {
      const reply = await read(server, { token });
      assert.equal(reply.status, 200, reply.text);
      const refused = await write(server, "never.md", { token });
      assert.equal(refused.status, 403);
      const params = challenge(refused.headers["www-authenticate"]);
      assert.equal(params.error, "insufficient_scope");
      assert.deepEqual(words(params.scope), ["library.read", "library.write"]);
      refusedResult(refused, "insufficient_scope");
      assert.ok(!existsSync(join(folder, "vault/never.md")));
      const writer = await newToken(folder, "writer", ["library.write"]);
      await becomes(server, writer, 403);
      assert.equal((await write(server, "yes.md", { token: writer })).status, 200);
    });

    test("decides also under loopback trust", async () => {
      const near = await start({ folder });
      servers.push(near);
      assert.equal((await write(near, "never2.md", { token })).status, 403);
      assert.ok(!existsSync(join(folder, "vault/never2.md")));
      assert.equal((await get(near, "/metrics", token)).status, 403);
      assert.equal((await read(near, { token: `annai_${"A".repeat(43)}` })).status, 401);
      assert.equal((await read(near)).status, 200);
    });

    test("nearly the token", async () => {
      const body = token.slice(6);
      const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      const spare = body.slice(0, -1) + last[last.indexOf(body.at(-1)) | 1];
      assert.equal(Buffer.from(spare, "base64url").toString("hex"), Buffer.from(body, "base64url").toString("hex"), "the same bits");
      const hash = createHash("sha256").update(token).digest();
      const stored = entriesOf(JSON.parse(readFileSync(path, "utf8")))[0];
      const values = Object.values(stored).filter((value) => typeof value === "string");
      for (const wrong of [
        `annai_${spare}`, `annai_${body}=`, `annai_${body}A`, `annai_${body.slice(0, -1)}`, `ANNAI_${body}`, `annai-${body}`, `annai_${body.toLowerCase()}`, `annai_${body.toUpperCase()}`, body, `_${body}`, `annai_annai_${body}`,
        "annai_", "annai", `annai_${"A".repeat(43)}`, `annai_${"A".repeat(42)}`, `annai_${"*".repeat(43)}`, `annai_${hash.toString("base64url")}`, `annai_${hash.toString("hex")}`, hash.toString("hex"), id, `annai_${id}`, "reader",
        `annai_${Buffer.from(body, "base64url").toString("hex")}`, `annai_${body}.x.y`, `${token}\t`.trim() + ".", ...values, ...values.map((value) => `annai_${value}`),
      ]) {
        const reply = await raw(server, bytes(server, { headers: [`Authorization: Bearer ${wrong}`] }));
        assert.equal(reply.status, 401, wrong);
        assert.equal(challenge(reply.headers["www-authenticate"]).error, "invalid_token");
      }
      assert.equal(await status(server, token), 200);
    });

    test("a new one is accepted, and a revoked one refused, within a second or so", async (t) => {
      for (const by of ["name", "id"]) {
        const made = await newToken(folder, `short ${by}`);
        t.diagnostic(`accepted after ${await becomes(server, made, 200)} ms`);
        const entry = await named(folder, `short ${by}`);
        assert.equal((await run(folder, ["token", "revoke", entry[by]])).code, 0);
        t.diagnostic(`refused after ${await becomes(server, made, 401)} ms`);
        refusedResult(await read(server, { token: made }), "invalid_token");
      }
    });

    test("revoked, and the clock of the file set back", async () => {
      const made = await newToken(folder, "backdated");
      await becomes(server, made, 200);
      const { atime, mtime } = statSync(path);
      await run(folder, ["token", "revoke", "backdated"]);
      utimesSync(path, atime, mtime);
      await becomes(server, made, 401);
    });

    test("expired", async () => {
      const made = await newToken(folder, "expiring");
      await becomes(server, made, 200);
      const key = Object.keys(entriesOf(JSON.parse(readFileSync(path, "utf8"))).find((entry) => entry.name === "expiring")).find((name) => /expir/.test(name));
      const set = (seconds) =>
        edit(path, (entries) => {
          const entry = entries.find((each) => each.name === "expiring");
          const at = Date.now() + seconds * 1000;
          entry[key] = typeof entry[key] === "number" ? Math.floor(entry[key] > 1e11 ? at : at / 1000) : new Date(at).toISOString().replace(/\.\d+Z/, "Z");
        });
      const end = Date.now() + 4000;
      set(4);
      await becomes(server, made, 401);
      assert.ok(Date.now() >= end - 1000, `refused ${end - Date.now()} ms before its end`);
      set(3600);
      await becomes(server, made, 200);
      set(-1);
      await becomes(server, made, 401);
      assert.equal((await run(folder, ["token", "list"])).code, 0);
      assert.equal((await run(folder, ["token", "revoke", "expiring"])).code, 0);
    });

    test("services' scopes in the file are no scopes", async () => {
      const made = await newToken(folder, "sly");
      edit(path, (entries) => entries.find((each) => each.name === "sly").scopes.push(...SERVICES));
      await reread(folder, server);
      const reply = await write(server, "never3.md", { token: made });
      assert.ok([401, 403].includes(reply.status));
      for (const scope of SERVICES) assert.ok(!words(challenge(reply.headers["www-authenticate"]).scope).includes(scope), `${scope} was granted`);
      edit(path, (entries) => entries.splice(entries.findIndex((each) => each.name === "sly"), 1));
      await becomes(server, token, 200);
    });

    test("last use is shown", async (t) => {
      const made = await newToken(folder, "used");
      const lastUse = async () => {
        const entry = await named(folder, "used");
        return Object.entries(entry).find(([key]) => /last|used/.test(key))?.[1] ?? null;
      };
      assert.equal((await lastUse()) || null, null, "never used");
      await becomes(server, made, 200);
      const took = await until(async () => (await lastUse()) !== null, 60_000, 300);
      t.diagnostic(`shown after ${took} ms`);
      assert.notEqual(took, null, "not shown within 8 s");
      const shown = await lastUse();
      const at = typeof shown === "number" ? (shown > 1e11 ? shown : shown * 1000) : Date.parse(shown);
      assert.ok(Math.abs(at - Date.now()) < 86400e3 + 1, `${shown}`);
      assert.equal(mode(path), "600");
    });

    test("call logs carry the id, and not the token", async () => {
      await read(server, { token });
      assert.notEqual(await until(() => server.lines.some((line) => line.includes('"manual_list"') && line.includes(id)), 30_000), null, server.lines.slice(-5).join("\n"));
      assert.ok(!server.log().includes(token.slice(6)));
    });
  });

  describe("a token file that cannot be trusted", { concurrency: 4 }, () => {
    /** A server, and what is done to its token file; all static tokens are refused, the log says why, and mending it helps. */
    function spoiled(name, spoil, { why, mend, log = true } = {}) {
      test(name, async (t) => {
        const folder = workspace();
        const path = defaultTokenFile(folder);
        const token = await newToken(folder, "a");
        const content = readFileSync(path);
        const server = await serve(folder);
        assert.equal(await status(server, token), 200);
        const seen = server.lines.length;
        await spoil(path, folder);
        await becomes(server, token, 401);
        const reply = await read(server, { token });
        refusedResult(reply, "invalid_token");
        assert.ok(reply.ms < 20_000, `${reply.ms} ms`);
        assert.equal((await request(server, { method: "GET", path: "/health" })).status, 200);
        if (log) {
          const said = () => server.lines.slice(seen).filter((line) => /"(warn|error)"/.test(line) && line.includes("tokens.json"));
          assert.notEqual(await until(() => said().some((line) => (why ?? /./).test(line))), null, `the log does not say why: ${server.lines.slice(seen).join("\n")}`);
          t.diagnostic(JSON.parse(said()[0]).msg + " " + JSON.stringify(JSON.parse(said()[0])));
          for (let times = 0; times < 50; times += 1) await status(server, token);
          assert.ok(said().length < 20, `${said().length} lines for 50 calls: a flood`);
        }
        assert.ok(memory(server.pid) < 400, `${memory(server.pid)} MiB`);
        // And from the start.
        const fresh = await serve(folder);
        assert.equal(await status(fresh, token), 401, "a server that starts with it");
        await fresh.stop();
        servers.splice(servers.indexOf(fresh), 1);
        // The commands neither hang nor crash.
        const shown = await run(folder, ["token", "list"], { timeout: 5000 });
        assert.ok(!shown.killed, "token list hangs");
        assert.ok(!/panicked/.test(shown.stderr), shown.stderr);
        const made = await run(folder, ["token", "new", "b", "--scope", "library.read"], { timeout: 5000 });
        assert.ok(!made.killed, "token new hangs");
        assert.ok(!/panicked/.test(made.stderr), made.stderr);
        t.diagnostic(`token list: exit ${shown.code}; token new: exit ${made.code} ${made.stderr.trim().split("\n")[0].slice(0, 160)}`);
        if (mend !== false) {
          rmSync(path, { recursive: true, force: true });
          writeFileSync(path, content, { mode: 0o600 });
          chmodSync(path, 0o600);
          await becomes(server, token, 200, 2500);
        }
      });
    }

    for (const bits of [0o644, 0o640, 0o604, 0o660, 0o666, 0o777, 0o622, 0o620, 0o602]) {
      spoiled(`mode ${bits.toString(8)}`, (path) => chmodSync(path, bits), { why: new RegExp("0?600|chmod|read|others|permission", "i") });
    }
    spoiled("deleted", (path) => rmSync(path), { log: false });
    spoiled("empty", (path) => truncateSync(path, 0));
    spoiled("garbage", (path) => writeFileSync(path, "{]\u0000\u0001"));
    spoiled("not UTF-8", (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00])));
    spoiled("JSON of another shape", (path) => writeFileSync(path, '{"tokens":{"a":1}}'));
    spoiled("a JSON string", (path) => writeFileSync(path, '"x"'));
    spoiled("half a file", (path) => truncateSync(path, Math.floor(statSync(path).size / 2)));
    spoiled("nested deep", (path) => writeFileSync(path, "[".repeat(500000)));
    spoiled("huge (sparse, 3 GiB)", (path) => truncateSync(path, 3 * 1024 ** 3));
    spoiled("huge (60 MB of white space behind)", (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(60e6, " ")])));
    spoiled("a directory", (path) => { rmSync(path); mkdirSync(path, { mode: 0o700 }); });
    spoiled("a FIFO", (path) => { rmSync(path); execFileSync("mkfifo", ["-m", "600", path]); });
    spoiled("a socket's place: /dev/zero by symlink", (path) => { rmSync(path); symlinkSync("/dev/zero", path); });
    spoiled("a symlink that leads nowhere", (path) => { rmSync(path); symlinkSync("/nonexistent/x", path); }, { log: false });
    spoiled("a symlink in a circle", (path) => { rmSync(path); symlinkSync(path, path); });
    spoiled("a symlink to a file that all can read", (path, folder) => { renameSync(path, join(folder, "open.json")); chmodSync(join(folder, "open.json"), 0o644); symlinkSync(join(folder, "open.json"), path); });
    if (process.getuid() === 0) {
      spoiled("readable by its group", (path) => { chownSync(path, 0, 1234); chmodSync(path, 0o640); });
      test("note: 0600, but another user's", async (t) => {
        const folder = workspace();
        const token = await newToken(folder, "a");
        chownSync(defaultTokenFile(folder), 1234, 1234);
        const server = await serve(folder);
        t.diagnostic(`owned by uid 1234, read by root: ${await status(server, token)}`);
      });
      test("not readable for the server", async () => {
        const folder = workspace();
        const token = await newToken(folder, "a");
        chmodSync(folder, 0o755);
        for (const name of ["cache", "home", "config"]) chownSync(join(folder, name), 65534, 65534);
        const server = await serve(folder, { uid: 65534, gid: 65534 });
        assert.equal(await status(server, token), 401);
        assert.notEqual(await until(() => server.lines.some((line) => /"(warn|error)"/.test(line) && /token/.test(line)), 30_000), null, server.log());
      });
      test("readable but not writable for the server: tokens work", async () => {
        const folder = workspace();
        const token = await newToken(folder, "a");
        chmodSync(folder, 0o755);
        for (const name of ["cache", "home", "config"]) chownSync(join(folder, name), 65534, 65534);
        chownSync(defaultTokenFile(folder), 65534, 65534);
        chmodSync(defaultTokenFile(folder), 0o400);
        chmodSync(join(folder, "data/annai"), 0o555);
        const server = await serve(folder, { uid: 65534, gid: 65534 });
        for (let times = 0; times < 5; times += 1) assert.equal(await status(server, token), 200, server.lines.slice(-3).join("\n"));
      });
    }
    test("note: a symlink to a file that is all right", async (t) => {
      const folder = workspace();
      const path = defaultTokenFile(folder);
      const token = await newToken(folder, "a");
      renameSync(path, join(folder, "real.json"));
      symlinkSync(join(folder, "real.json"), path);
      const server = await serve(folder);
      const made = await run(folder, ["token", "new", "b", "--scope", "library.read"]);
      t.diagnostic(`served: ${await status(server, token)}; token new: exit ${made.code}; afterwards a ${lstatSync(path).isSymbolicLink() ? "symlink" : "file"}`);
    });
    test("note: a folder that all can write", async (t) => {
      const folder = workspace();
      const token = await newToken(folder, "a");
      chmodSync(join(folder, "data/annai"), 0o777);
      const server = await serve(folder);
      t.diagnostic(`served: ${await status(server, token)}`);
    });
    for (const [name, spoil] of [
      ["garbage", (path) => writeFileSync(path, "{]")],
      ["a FIFO", (path) => execFileSync("mkfifo", ["-m", "600", path])],
      ["a directory", (path) => mkdirSync(path)],
      ["readable by others", (path) => writeFileSync(path, "{}", { mode: 0o644 })],
      ["huge", (path) => { writeFileSync(path, "{}", { mode: 0o600 }); truncateSync(path, 3 * 1024 ** 3); }],
      ["about the future and the past", (path) => writeFileSync(path, '{"x":18446744073709551615,"y":0}', { mode: 0o600 })],
    ]) {
      test(`the file of last uses is ${name}: it only informs`, async (t) => {
        const folder = workspace();
        const token = await newToken(folder, "a");
        const path = join(folder, "data/annai/tokens.last-use.json");
        spoil(path);
        const listed = await run(folder, ["token", "list"], { timeout: 5000 });
        assert.ok(!listed.killed && !/panicked/.test(listed.stderr), listed.stderr);
        assert.equal(listed.code, 0, `token list: ${listed.stderr}`);
        const server = await serve(folder);
        assert.equal(await status(server, token), 200);
        const started = Date.now();
        assert.equal(await server.stop(), 0);
        assert.ok(Date.now() - started < 3000);
        const after = await run(folder, ["token", "list"], { timeout: 5000 });
        t.diagnostic(`afterwards: exit ${after.code} ${after.stderr.trim().slice(0, 120)}`);
      });
    }
    test("the lock is a FIFO: the server serves and stops", async () => {
      const folder = workspace();
      const token = await newToken(folder, "a");
      const lock = join(folder, "data/annai/tokens.lock");
      if (!existsSync(lock)) return;
      rmSync(lock);
      execFileSync("mkfifo", ["-m", "600", lock]);
      const server = await serve(folder);
      for (let times = 0; times < 3; times += 1) assert.equal(await status(server, token), 200);
      const started = Date.now();
      assert.equal(await server.stop(), 0, "it had to be killed");
      assert.ok(Date.now() - started < 11000, `${Date.now() - started} ms`);
      const made = await run(folder, ["token", "new", "b", "--scope", "library.read"], { timeout: 4000 });
      assert.ok(!made.killed, "token new hangs");
    });
    test("no home, an empty or relative path, a path that is a folder", async (t) => {
      const folder = workspace();
      for (const [name, env] of [
        ["no home", { HOME: undefined, XDG_DATA_HOME: undefined }],
        ["relative XDG_DATA_HOME", { XDG_DATA_HOME: "relative" }],
        ["empty ANNAI_TOKEN_FILE", { ANNAI_TOKEN_FILE: "" }],
        ["relative ANNAI_TOKEN_FILE", { ANNAI_TOKEN_FILE: "own.json" }],
        ["a folder", { ANNAI_TOKEN_FILE: join(folder, "vault") }],
        ["a folder with a slash", { ANNAI_TOKEN_FILE: `${folder}/vault/` }],
        ["a lock", { ANNAI_TOKEN_FILE: join(folder, "vault/a.lock") }],
        ["a temporary file", { ANNAI_TOKEN_FILE: join(folder, "vault/a.new") }],
        ["a device", { ANNAI_TOKEN_FILE: "/dev/null" }],
        ["a file below a file", { ANNAI_TOKEN_FILE: join(folder, "manuals/guide/limits.md/x") }],
      ]) {
        const made = await run(folder, ["token", "new", "x", "--scope", "library.read"], { env, timeout: 5000 });
        assert.ok(!made.killed && !/panicked/.test(made.stderr), `${name}: ${made.stderr}`);
        assert.equal(made.code === 0, FORM.test(made.stdout.trim()), name);
        t.diagnostic(`${name}: exit ${made.code} ${made.code ? made.stderr.trim().slice(0, 150) : ""}`);
        if (made.code === 0) {
          const again = await run(folder, ["token", "new", "y", "--scope", "library.read"], { env, timeout: 5000 });
          assert.equal(again.code, 0, `${name}, the second: ${again.stderr}`);
          const shown = await run(folder, ["token", "list", "--json"], { env });
          assert.ok(shown.stdout.includes('"x"') && shown.stdout.includes('"y"'), `${name}: ${shown.stdout}`);
        }
      }
      assert.ok(lstatSync("/dev/null").isCharacterDevice(), "/dev/null was replaced");
    });
    test("one hash twice, an entry without hash, an empty hash, unknown members", async () => {
      const folder = workspace();
      const path = defaultTokenFile(folder);
      const token = await newToken(folder, "a");
      edit(path, (entries) => {
        const key = Object.keys(entries[0]).find((name) => /sha|hash|digest/i.test(name));
        for (const value of ["", null, createHash("sha256").update("").digest("hex"), createHash("sha256").update("annai_").digest("hex")]) entries.push({ ...entries[0], id: `x${entries.length}`, name: `x${entries.length}`, [key]: value });
      });
      const server = await serve(folder);
      for (const wrong of ["", "annai_", " ", "x"]) assert.equal((await read(server, { headers: ["Authorization", `Bearer ${wrong}`] })).status, 401, JSON.stringify(wrong));
      assert.ok([200, 401].includes(await status(server, token)));
    });
    test("times that no calendar has", async () => {
      for (const value of [18446744073709551615n, 9223372036854775807n, 253402300800n, 0n]) {
        const folder = workspace();
        const path = defaultTokenFile(folder);
        const token = await newToken(folder, "a");
        const { id } = await named(folder, "a");
        const text = readFileSync(path, "utf8").replace(/"(expires_at|created_at)": *\d+/g, (_, key) => `"${key}": ${value}`);
        assert.ok(text.includes(String(value)));
        writeFileSync(path, text);
        writeFileSync(join(folder, "data/annai/tokens.last-use.json"), `{"${id}":${value}}`, { mode: 0o600 });
        for (const args of [["token", "list"], ["token", "list", "--json"], ["token", "new", "b", "--scope", "library.read"], ["doctor"]]) {
          const shown = await run(folder, args, { timeout: 8000 });
          assert.ok(!/panicked|"panic"/.test(shown.stderr + shown.stdout) && shown.code !== 101, `${value}: ${args.join(" ")}: exit ${shown.code} ${shown.stderr}`);
        }
        const server = await serve(folder);
        assert.equal(await status(server, token), value ? 200 : 401);
        assert.equal(await server.stop(), 0);
      }
    });
    test("a second reason is logged too", async () => {
      const folder = workspace();
      const path = defaultTokenFile(folder);
      const token = await newToken(folder, "a");
      const server = await serve(folder);
      chmodSync(path, 0o644);
      await becomes(server, token, 401);
      writeFileSync(path, "{]");
      chmodSync(path, 0o600);
      const said = await until(async () => (await status(server, token), server.lines.some((line) => line.includes("not a token file"))), 60_000, 100);
      assert.notEqual(said, null, `the operator did what the log said, and learns nothing more: ${server.lines.filter((line) => line.includes('"error"')).join("\n")}`);
    });
    test("the first token, made while the server runs", async () => {
      const folder = workspace();
      const server = await serve(folder);
      assert.equal(await status(server, `annai_${"A".repeat(43)}`), 401);
      const token = await newToken(folder, "late");
      await becomes(server, token, 200);
      assert.equal((await call(server, "manual_find", { query: "rate" }, { token })).status, 200);
    });
  });
});
