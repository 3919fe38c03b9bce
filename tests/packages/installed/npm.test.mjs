// The packed npm packages, installed into empty folders. PACKAGES is where scripts/package has put them.
import assert from "node:assert/strict";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { cleanEnvironment, emptyFolder, isAnnai, isResponsesServer, names, succeed, version } from "../parts.mjs";
import { registry } from "./registry.mjs";

const { PACKAGES } = process.env;

test("npm i -g ./annai-*.tgz", async (t) => {
  const folder = await emptyFolder(t);
  const tarballs = (await readdir(PACKAGES)).filter((name) => name.startsWith(`${names.npm.chosen}-`) && name.endsWith(".tgz")).map((name) => join(PACKAGES, name));
  assert.equal(tarballs.length, 2);
  const env = cleanEnvironment(folder, { npm_config_registry: await registry(t, PACKAGES) });
  await succeed("npm", ["install", "--global", "--prefix", folder, ...tarballs], { cwd: folder, env });
  assert.equal(await succeed(join(folder, "bin/annai"), ["--version"], { env }), `annai ${version}\n`);
  await isAnnai(join(folder, "bin/annai"), [], folder);
});

test("npm i openai-responses-mcp brings the program of this platform and no other", async (t) => {
  const folder = await emptyFolder(t);
  const env = cleanEnvironment(folder, { npm_config_registry: await registry(t, PACKAGES) });
  await succeed("npm", ["install", "openai-responses-mcp@latest"], { cwd: folder, env });
  const modules = (await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."));
  assert.deepEqual(modules, [`${names.npm.chosen}-${process.platform}-${process.arch}`, "openai-responses-mcp"]);
  assert.ok((await stat(join(folder, "node_modules", modules[0], "annai"))).mode & 0o100, "the program can be executed");
  await isResponsesServer(join(folder, "node_modules/.bin/openai-responses-mcp"), [], folder);
});

test("npx -y openai-responses-mcp@latest --stdio, as clients are configured", async (t) => {
  const folder = await emptyFolder(t);
  const npm_config_registry = await registry(t, PACKAGES);
  await isResponsesServer("env", ["-C", folder, `npm_config_registry=${npm_config_registry}`, "npx", "-y", "openai-responses-mcp@latest"], folder);
  await isAnnai("env", ["-C", folder, `npm_config_registry=${npm_config_registry}`, "npx", "-y", names.npm.chosen], folder);
});
