// The manifests agree with Cargo and with names.json, and say what their readers ask for.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { platforms } from "../../packaging/facts.mjs";
import { bundleManifest, compareVersions, complaints, installLinks, platformManifest, serverManifest } from "../../packaging/manifests.mjs";
import { nameRefusal, notes, refusals } from "../../packaging/release.mjs";
import { names, root, run, succeed, version } from "./parts.mjs";

const json = (path) => JSON.parse(readFileSync(join(root, path), "utf8"));

test("names and versions agree everywhere", async () => {
  const checked = await run("node", ["packaging/manifests.mjs", "check"], { cwd: root });
  assert.deepEqual(checked, { status: 0, stdout: "", stderr: "" });
  assert.deepEqual(complaints(), []);
});

test("a tag that does not fit is refused, with the reason", () => {
  const changelog = `# Changelog\n\n## [Unreleased]\n\n## [${version}] - 2026-11-17\n\n### Added\n- A thing.\n\n## [0.0.1] - 2020-01-01\nOld.\n`;
  const repository = names.repository.replace("https://github.com/", "");
  assert.deepEqual(refusals(`v${version}`, repository, changelog), []);
  assert.equal(notes(changelog, version), "### Added\n- A thing.");
  assert.match(refusals("v0.0.1", repository, changelog).join(), /the tag is v0\.0\.1, but Cargo\.toml has the version/);
  assert.match(refusals(`v${version}`, "somebody/else", changelog).join(), /this is somebody\/else/);
  assert.match(refusals(`v${version}`, repository, "## [Unreleased]\n").join(), /CHANGELOG\.md has no section/);
});

test("a name that somebody else has is refused, and the fallback is named", () => {
  assert.equal(nameRefusal("npm", undefined), undefined);
  assert.equal(nameRefusal("npm", JSON.stringify({ repository: `git+${names.repository}.git` })), undefined);
  assert.match(nameRefusal("npm", '{"name":"annai","repository":"elsewhere"}'), /set npm\.chosen to annai-mcp/);
});

test("the version is above that of the package that is replaced", () => {
  assert.ok(compareVersions(version, names.replaces.version) > 0);
  assert.ok(compareVersions("1.10.0", "1.9.9") > 0 && compareVersions("2.0.0", "2.0.0") === 0 && compareVersions("0.9.0", "1.0.0") < 0);
});

// The fields, patterns and limits of the registry's schema of 2025-12-11.
test("server.json is what the MCP registry takes", () => {
  const bundle = { file: `annai-${version}-linux-x64.mcpb`, sha256: "0".repeat(64) };
  for (const server of [json("server.json"), serverManifest([bundle])]) {
    assert.match(server.$schema, /\/schemas\/2025-12-11\/server\.schema\.json$/);
    assert.match(server.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    assert.ok(server.name.length >= 3 && server.name.length <= 200);
    for (const field of ["title", "description"]) assert.ok(server[field].length >= 1 && server[field].length <= 100, field);
    assert.equal(server.version, version);
    assert.deepEqual(Object.keys(server.repository).sort(), ["source", "url"]);
    const known = ["$schema", "name", "title", "description", "version", "websiteUrl", "repository", "packages"];
    assert.deepEqual(Object.keys(server).filter((key) => !known.includes(key)), []);
    const allowed = ["registryType", "identifier", "version", "fileSha256", "runtimeHint", "packageArguments", "environmentVariables", "transport"];
    for (const entry of server.packages) {
      assert.deepEqual(Object.keys(entry).filter((key) => !allowed.includes(key)), [], "registryBaseUrl and others are not wanted");
      assert.ok(["npm", "pypi", "mcpb"].includes(entry.registryType) && entry.identifier);
      assert.equal(entry.version, version);
      assert.deepEqual(entry.transport, { type: "stdio" });
      assert.equal(entry.registryType === "mcpb", /^[a-f0-9]{64}$/.test(entry.fileSha256));
      for (const argument of entry.packageArguments ?? []) assert.ok(argument.type === "positional" && argument.value);
      for (const variable of entry.environmentVariables ?? []) assert.ok(variable.name && variable.description);
    }
  }
  // The registry looks for its name in the packages to know that they are ours.
  assert.equal(json("packaging/npm/annai/package.json").mcpName, json("server.json").name);
});

test("the package that is replaced keeps its public metadata", () => {
  const manifest = json("packaging/npm/openai-responses-mcp/package.json");
  const { name, description, type, bin, files, engines, license } = manifest;
  assert.deepEqual(
    { name, description, type, bin, files, engines, license },
    {
      name: "openai-responses-mcp",
      description: "Lightweight MCP server (Responses API core). OpenAI integration + web_search.",
      type: "module",
      bin: { "openai-responses-mcp": "build/index.js" },
      files: ["build", "config/config.yaml.example", "config/policy.md.example", "README.md", "LICENSE"],
      engines: { node: ">=20" },
      license: "MIT",
    },
  );
  assert.equal(manifest.scripts.prepublishOnly, "npm run build");
  assert.deepEqual(["preinstall", "install", "postinstall"].filter((script) => script in manifest.scripts), [], "nothing runs when it is installed");
});

test("npm packs the files that the manifest lists and no others", async () => {
  for (const folder of ["annai", "openai-responses-mcp"]) {
    const cwd = join(root, "packaging/npm", folder);
    await succeed("npm", ["run", "--silent", "build:clean"], { cwd });
    const [packed] = JSON.parse(await succeed("npm", ["pack", "--dry-run", "--json"], { cwd }));
    const files = packed.files.map(({ path }) => path).sort();
    assert.deepEqual(files, ["LICENSE", "README.md", "build/index.js", "config/config.yaml.example", "config/policy.md.example", "package.json"]);
  }
});

test("each platform has one package, which npm installs only there", () => {
  const optional = json("packaging/npm/annai/package.json").optionalDependencies;
  const manifests = platforms.map(platformManifest);
  assert.deepEqual(optional, Object.fromEntries(manifests.map((manifest) => [manifest.name, version])));
  const places = manifests.map(({ os, cpu, libc }) => JSON.stringify([os, cpu, libc]));
  assert.equal(new Set(places).size, platforms.length);
});

test("the release workflow builds and publishes every platform", () => {
  const workflow = readFileSync(join(root, ".github/workflows/release.yml"), "utf8");
  const built = [...workflow.matchAll(/- \{ target: (\S+),/g)].map(([, target]) => target);
  assert.deepEqual(built.sort(), platforms.map(({ target }) => target).sort());
  const published = workflow.match(/out\/"\$name"-\{([\w,]+)\}-\*\.tgz/)[1].split(",");
  assert.deepEqual(published.sort(), [...new Set(platforms.map(({ os }) => os))].sort());
});

test("the packages for Windows contain annai.exe and ask for no workspace", () => {
  const windows = platforms.find(({ os }) => os === "win32");
  assert.deepEqual(platformManifest(windows).files, ["annai.exe", "README.md", "LICENSE"]);
  const { server, user_config } = bundleManifest(windows);
  assert.equal(server.mcp_config.command, "${__dirname}/server/annai.exe");
  assert.equal(server.entry_point, "server/annai.exe");
  assert.deepEqual([Object.keys(server.mcp_config.env), Object.keys(user_config)], [["OPENAI_API_KEY"], ["openai_api_key"]]);
});

test("the install links hold the configuration that they install", () => {
  const { cursor, vscode } = installLinks();
  const server = { command: "npx", args: ["-y", names.npm.chosen, "--stdio"] };
  assert.deepEqual(JSON.parse(Buffer.from(new URL(cursor).searchParams.get("config"), "base64").toString()), server);
  const config = JSON.parse(new URL(vscode).searchParams.get("config"));
  const [input] = JSON.parse(new URL(vscode).searchParams.get("inputs"));
  assert.deepEqual(config, { ...server, env: { OPENAI_API_KEY: `\${input:${input.id}}` } });
  assert.ok(input.password);
});

test("lock files name no registry", async () => {
  const files = (await succeed("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*package-lock.json"], { cwd: root })).trim().split("\n");
  assert.ok(files.length > 3);
  for (const file of files) assert.doesNotMatch(readFileSync(join(root, file), "utf8"), /"resolved"|https?:\/\/registry/, file);
});
