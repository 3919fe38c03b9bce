// The other packages, each installed in an empty place and used by the official client. PACKAGES is where scripts/package has put them.
import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { names, cleanEnvironment, connect, emptyFolder, isAnnai, root, run, succeed, version } from "../parts.mjs";
import { only } from "./registry.mjs";

const { PACKAGES, UV } = process.env;

test("pip install ./annai-*.whl", async (t) => {
  const folder = await emptyFolder(t);
  const wheel = await only(PACKAGES, /\.whl$/);
  assert.match(wheel, new RegExp(`/${names.pypi.chosen.replace("-", "_")}-${version}-py3-none-manylinux`));
  await succeed("python3", ["-m", "venv", join(folder, "venv")]);
  await succeed(join(folder, "venv/bin/pip"), ["install", "--quiet", "--no-index", wheel]);
  await isAnnai(join(folder, "venv/bin/annai"), [], folder);
  // The registry of MCP servers finds our name in the description.
  const shown = await succeed(join(folder, "venv/bin/python"), ["-c", `import importlib.metadata as m; print(m.metadata("${names.pypi.chosen}").get_payload())`]);
  assert.ok(shown.includes(`mcp-name: ${names.registry}`));
});

test("uvx annai", async (t) => {
  const folder = await emptyFolder(t);
  const wheel = await only(PACKAGES, /\.whl$/);
  await isAnnai(UV, ["tool", "run", "--offline", "--no-config", "--cache-dir", join(folder, "cache"), "--from", wheel, "annai"], folder);
});

test("cargo install --path crates/annai", async (t) => {
  const folder = await emptyFolder(t);
  // Not optimized, because that is quick where the tests were built; whether it can be installed does not depend on it.
  const options = ["--path", "crates/annai", "--locked", "--debug", "--root", folder, "--target-dir", join(root, "target")];
  await succeed("cargo", ["install", ...options], { cwd: root });
  await isAnnai(join(folder, "bin/annai"), [], folder);
});

test("the MCP bundle", async (t) => {
  const folder = await emptyFolder(t);
  const mcpb = join(root, "tests/packages/node_modules/.bin/mcpb");
  await succeed(mcpb, ["unpack", await only(PACKAGES, /\.mcpb$/), folder]);
  await succeed(mcpb, ["validate", join(folder, "manifest.json")]);
  const { server } = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  const command = server.mcp_config.command.replace("${__dirname}", folder);
  assert.ok((await stat(command)).mode & 0o100, "the program can be executed");
  // A host fills in what its user has entered; here, that is no key and the example workspace.
  const values = { "user_config.openai_api_key": "", "user_config.workspace": join(root, "examples/workspace") };
  const env = Object.entries(server.mcp_config.env).map(([key, value]) => [key, value.replace(/\$\{(.*?)\}/g, (_, name) => values[name])]);
  await connect(command, server.mcp_config.args, { env: cleanEnvironment(folder, Object.fromEntries(env)) }, async (client) => {
    const { structuredContent } = await client.callTool({ name: "manual_list", arguments: {} });
    assert.ok(structuredContent.total > 3);
  });
});

test("the contents of the Debian package", async (t) => {
  const folder = await emptyFolder(t);
  await succeed("dpkg-deb", ["--extract", await only(PACKAGES, /\.deb$/), folder]);
  await isAnnai(join(folder, "usr/bin/annai"), [], folder);
  for (const page of ["annai", "annai-find", "annai-token-new"]) {
    assert.match(await succeed("gzip", ["-dc", join(folder, `usr/share/man/man1/${page}.1.gz`)]), /^\.TH annai/m);
  }
  const units = ["lib/systemd/system/annai.service", "usr/lib/systemd/system/annai.service"];
  const found = await Promise.all(units.map((path) => readFile(join(folder, path), "utf8").catch(() => "")));
  assert.equal(found.join(""), await readFile(join(root, "packaging/debian/annai.service"), "utf8"));
});

const cannotInstall = process.getuid() === 0 ? false : "needs root";
test("apt install ./annai_*.deb", { skip: cannotInstall }, async (t) => {
  const present = await run("dpkg-query", ["--show", "annai"]);
  assert.notEqual(present.status, 0, "annai is already installed on this machine");
  const package_ = await only(PACKAGES, /\.deb$/);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const knownUser = (await run("getent", ["passwd", "annai"])).status === 0;
  t.after(async () => {
    await succeed("apt-get", ["purge", "--yes", "annai"], { env });
    // The package keeps its user, who may own files.
    if (!knownUser) await succeed("userdel", ["annai"]);
  });
  await succeed("apt-get", ["install", "--yes", "--no-install-recommends", package_], { env });
  const folder = await emptyFolder(t);
  await isAnnai("/usr/bin/annai", [], folder);
  const [, , , , , home, shell] = (await succeed("getent", ["passwd", "annai"])).trim().split(":");
  assert.deepEqual([home, shell], ["/var/lib/annai", "/usr/sbin/nologin"]);
  assert.equal((await succeed("stat", ["--format=%U:%G %a", "/var/lib/annai/vault"])).trim(), "annai:annai 750");
  assert.equal((await succeed("stat", ["--format=%U:%G %a", "/etc/annai/annai.env"])).trim(), "root:root 640");
  assert.match(await succeed("bash", ["-c", "source /usr/share/bash-completion/completions/annai && complete -p annai"]), /annai/);
  // As the user of the service, with its settings.
  const settings = ["HOME=/var/lib/annai", "WORKSPACE_ROOT=/var/lib/annai", "ANNAI_TOKEN_FILE=/var/lib/annai/tokens.json"];
  const listed = await succeed("setpriv", ["--reuid=annai", "--regid=annai", "--clear-groups", "env", ...settings, "/usr/bin/annai", "call", "manual_list", "--json"]);
  assert.equal(JSON.parse(listed).total, 0);
});
