// Claude Code, Codex and Gemini list the server from the settings that `annai init --write` wrote into an empty home folder,
// without an account; the MCP Inspector's command line starts it from such settings and calls a tool.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../leftovers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const ANNAI = process.env.ANNAI ?? join(here, "../../target/debug/annai");
const INSPECTOR = join(here, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
// The first start of a client unpacks and migrates things, on a machine that may be busy.
const TIMEOUT = 300_000;

/** An empty home folder with a manual. */
async function newHome() {
  const home = temporaryFolder("annai-clients-");
  await mkdir(join(home, "manuals/shop"), { recursive: true });
  await writeFile(join(home, "manuals/shop/refunds.md"), "# Refunds\n\nA refund takes 14 days.\n");
  await mkdir(join(home, "project"));
  return home;
}

/** Runs a program in a folder that is not the home folder; its exit status and what it printed. */
function run(home, program, args, env = {}) {
  // npm's folder comes first, so that clients start with the Node that these tests run with.
  const PATH = `${join(here, "node_modules/.bin")}:${dirname(process.execPath)}:${process.env.PATH}`;
  const quiet = { NO_COLOR: "1", DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };
  const options = { cwd: join(home, "project"), env: { PATH, HOME: home, ...quiet, ...env }, timeout: TIMEOUT, maxBuffer: 1 << 26 };
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? error.signal) : 0, stdout, stderr }));
    child.stdin.end();
  });
}

/** `annai init` with these arguments, which must succeed. */
async function init(home, ...args) {
  const { status, stdout, stderr } = await run(home, ANNAI, ["init", ...args]);
  assert.equal(status, 0, stderr);
  return stdout;
}

const manuals = (home) => join(home, "manuals");
const args = (home) => ["--stdio", "--toolset", "library", "--manuals", manuals(home)];

test("Claude Code connects to the server, in every project of the user", { timeout: TIMEOUT }, async () => {
  const home = await newHome();
  // Its own command line writes the file first; what it wrote must survive.
  const added = await run(home, "claude", ["mcp", "add", "--scope", "user", "other", "--", "false"]);
  assert.equal(added.status, 0, added.stderr);
  const before = await readFile(join(home, ".claude.json"), "utf8");
  await init(home, "claude-code", "--manuals", manuals(home), "--write");
  const list = await run(home, "claude", ["mcp", "list"]);
  assert.equal(list.status, 0, list.stderr);
  assert.match(list.stdout, new RegExp(`^annai: ${ANNAI} ${args(home).join(" ")} - .*Connected`, "m"));
  assert.match(list.stdout, /^other: false/m);
  const shown = await run(home, "claude", ["mcp", "get", "annai"]);
  assert.match(shown.stdout, /Scope: User config/);
  assert.doesNotMatch(list.stdout + shown.stdout, /OPENAI_API_KEY|Warning/);

  // With tools that need a key, the key is that of the environment.
  await init(home, "claude-code", "--toolset", "answers", "--write");
  const keyed = await run(home, "claude", ["mcp", "get", "annai"], { OPENAI_API_KEY: "from-the-environment" });
  assert.match(keyed.stdout, /Connected[^]*OPENAI_API_KEY=\$\{OPENAI_API_KEY\}/);
  assert.doesNotMatch(await readFile(join(home, ".claude.json"), "utf8"), /from-the-environment/);

  await init(home, "claude-code", "--remove");
  const after = await run(home, "claude", ["mcp", "list"]);
  assert.doesNotMatch(after.stdout, /annai/);
  const { mcpServers } = JSON.parse(await readFile(join(home, ".claude.json"), "utf8"));
  assert.deepEqual(mcpServers, JSON.parse(before).mcpServers);
});

test("Codex lists the server, with the variable that it passes on", { timeout: TIMEOUT }, async () => {
  const home = await newHome();
  const own = '# mine\nmodel = "gpt-5" # a comment\n';
  await mkdir(join(home, ".codex"));
  await writeFile(join(home, ".codex/config.toml"), own);
  const entry = async () => {
    const { status, stdout, stderr } = await run(home, "codex", ["mcp", "list", "--json"]);
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout).map(({ name, enabled, transport }) => ({ name, enabled, ...transport }));
  };
  await init(home, "codex", "--manuals", manuals(home), "--write");
  const expected = { name: "annai", enabled: true, type: "stdio", command: ANNAI, cwd: null };
  assert.deepEqual(await entry(), [{ ...expected, args: args(home), env: null, env_vars: [] }]);
  await init(home, "codex", "--toolset", "answers", "--write");
  assert.deepEqual(await entry(), [{ ...expected, args: ["--stdio", "--toolset", "answers"], env: null, env_vars: ["OPENAI_API_KEY"] }]);
  // Codex changes the file itself, and the server stays.
  assert.equal((await run(home, "codex", ["mcp", "add", "other", "--", "false"])).status, 0);
  await init(home, "codex", "--manuals", manuals(home), "--write");
  assert.deepEqual((await entry()).map(({ name, args }) => [name, args.length]), [["annai", 5], ["other", 0]]);
  await init(home, "codex", "--remove");
  assert.deepEqual((await entry()).map(({ name }) => name), ["other"]);
  assert.ok((await readFile(join(home, ".codex/config.toml"), "utf8")).startsWith(own));
});

test("Gemini connects to the server, and expands the reference to the key", { timeout: TIMEOUT }, async () => {
  const home = await newHome();
  await mkdir(join(home, ".gemini"));
  // Without this, Gemini starts no servers in the folder.
  await writeFile(join(home, ".gemini/trustedFolders.json"), JSON.stringify({ [join(home, "project")]: "TRUST_FOLDER" }));
  await init(home, "gemini-cli", "--manuals", manuals(home), "--write");
  const list = async (env) => {
    const { status, stdout, stderr } = await run(home, "gemini", ["mcp", "list"], env);
    assert.equal(status, 0, stderr);
    return stdout + stderr;
  };
  assert.match(await list(), new RegExp(`annai: ${ANNAI} ${args(home).join(" ")} \\(stdio\\) - Connected`));
  await init(home, "gemini-cli", "--toolset", "answers", "--write");
  assert.match(await list({ OPENAI_API_KEY: "x" }), new RegExp(`annai: ${ANNAI} --stdio --toolset answers \\(stdio\\) - Connected`));
  await init(home, "gemini-cli", "--remove");
  assert.doesNotMatch(await list(), /annai:/);
  assert.equal(existsSync(join(home, ".gemini/settings.json.annai-backup")), false);
});

test("the Inspector's command line calls a tool of the server in Cursor's settings", { timeout: TIMEOUT }, async () => {
  const home = await newHome();
  await init(home, "cursor", "--manuals", manuals(home), "--write");
  const call = async (name, ...toolArgs) => {
    const pairs = toolArgs.flatMap((pair) => ["--tool-arg", pair]);
    const settings = ["--config", join(home, ".cursor/mcp.json"), "--server", "annai"];
    const method = ["--method", "tools/call", "--tool-name", name, ...pairs, "--format", "json"];
    const { status, stdout, stderr } = await run(home, process.execPath, [INSPECTOR, "--cli", ...settings, ...method]);
    assert.equal(status, 0, stderr + stdout);
    return JSON.parse(stdout).result;
  };
  const found = await call("manual_find", "query=how long does a refund take");
  assert.match(JSON.stringify(found.structuredContent), /refunds\.md/);
  // Started in a folder of the client, without a vault, it creates nothing there and says what to set.
  const { status, stdout, stderr } = await run(home, process.execPath, [
    INSPECTOR, "--cli", "--config", join(home, ".cursor/mcp.json"), "--server", "annai", "--method", "tools/call",
    "--tool-name", "vault_create", "--tool-arg", "path=a.md", "--tool-arg", "content=x", "--format", "json",
  ]);
  assert.match(stdout + stderr, /--vault DIR/, String(status));
  assert.equal(existsSync(join(home, "project/vault")), false);
  await init(home, "cursor", "--remove");
  assert.equal(existsSync(join(home, ".cursor/mcp.json")), false);
});
