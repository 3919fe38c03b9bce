// The plugin in Claude Code itself, which CLAUDE names: it validates, installs and starts it. No model is asked, and nobody signs in.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { cleanEnvironment, emptyFolder, root, succeed } from "../parts.mjs";
import { registry } from "./registry.mjs";

const { CLAUDE, PACKAGES } = process.env;

test("Claude Code validates the plugin and its marketplace", async (t) => {
  const env = cleanEnvironment(await emptyFolder(t), { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" });
  for (const path of ["packaging/claude-plugin", "."]) {
    assert.match(await succeed(CLAUDE, ["plugin", "validate", "--strict", join(root, path)], { env }), /Validation passed/);
  }
});

test("Claude Code installs the plugin and connects to its server", async (t) => {
  const home = await emptyFolder(t);
  const env = cleanEnvironment(home, { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", npm_config_registry: await registry(t, PACKAGES) });
  const claude = (...args) => succeed(CLAUDE, args, { env, cwd: home });
  await claude("plugin", "marketplace", "add", root);
  await claude("plugin", "install", "annai@annai");
  assert.match(await claude("mcp", "list"), /annai.*Connected/);
});
