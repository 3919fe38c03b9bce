// The systemd unit of docs/operations.md: systemd itself reads it without complaint, and rates its hardening. Skipped where
// there is no systemd, as in most containers.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ANNAI, docBlock, fill, run, temporary } from "./parts.mjs";

const missing = spawnSync("systemd-analyze", ["--version"]).error ? "systemd-analyze is not installed" : false;

test("the unit is valid and hardened", { skip: missing }, async (t) => {
  const unit = join(temporary(), "annai.service");
  await writeFile(unit, fill(await docBlock("operations.md", "ini", "ExecStart="), { "/usr/local/bin/annai": ANNAI }));
  const verified = await run("systemd-analyze", ["verify", unit]);
  assert.deepEqual(verified, { status: 0, stdout: "", stderr: "" });
  // The exposure is 1.2 of 10 with systemd 252; beyond the threshold of 2.0 the command fails.
  const rated = await run("systemd-analyze", ["security", "--offline=true", "--threshold=20", "--no-pager", unit]);
  assert.equal(rated.status, 0, rated.stdout);
});
