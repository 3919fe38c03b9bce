// The manifests that are generated from Cargo.toml and names.json, so that no version and no name can differ:
//   node packaging/manifests.mjs write     after a change of the version or of a name
//   node packaging/manifests.mjs check     fails when one of them is stale, or when a hand-written file says something else
import { writeFileSync } from "node:fs";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { description, keywords, license, names, platformPackage, platforms, read, root, summary, toml, version } from "./facts.mjs";

export const text = (value) => `${JSON.stringify(value, null, 2)}\n`;
const author = { name: "The Annai authors", url: names.repository };
const binaries = () => Object.fromEntries(platforms.map((platform) => [platformPackage(platform), version]));

/** What all npm packages share. */
const npmCommon = {
  license,
  repository: { type: "git", url: `git+${names.repository}.git` },
  homepage: `${names.repository}#readme`,
  bugs: { url: `${names.repository}/issues` },
};

/** A package with the launcher; `implied` goes in front of the arguments of its user. */
function launcherManifest({ name, folder, description, bin, implied, mcpName }) {
  return {
    name,
    version,
    mcpName,
    description,
    type: "module",
    bin,
    files: ["build", "config/config.yaml.example", "config/policy.md.example", "README.md", "LICENSE"],
    scripts: { build: `node ../build.mjs ${folder}`, "build:clean": "npm run build", prepublishOnly: "npm run build" },
    engines: { node: ">=20" },
    ...npmCommon,
    keywords,
    optionalDependencies: binaries(),
    annai: { arguments: implied },
  };
}

export const platformManifest = (platform) => ({
  name: platformPackage(platform),
  version,
  description: `The program of ${names.npm.chosen} for ${platform.id}${platform.tested ? "" : " (untested)"}`,
  files: [platform.program, "README.md", "LICENSE"],
  os: [platform.os],
  cpu: [platform.cpu],
  libc: platform.libc && [platform.libc],
  preferUnplugged: true,
  ...npmCommon,
});

const environmentVariables = [
  { name: "OPENAI_API_KEY", description: "The OpenAI API key, for the toolsets answers and search", isSecret: true },
  { name: "WORKSPACE_ROOT", description: "The folder with the subfolders manuals and vault", format: "filepath" },
];
const stdio = { packageArguments: [{ type: "positional", value: "--stdio" }], environmentVariables, transport: { type: "stdio" } };

/** server.json. A release adds its bundles, whose digests are not known before. */
export const serverManifest = (bundles = []) => ({
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: names.registry,
  title: "Annai",
  description: summary,
  version,
  websiteUrl: `${names.repository}#readme`,
  repository: { url: names.repository, source: "github" },
  packages: [
    { registryType: "npm", identifier: names.npm.chosen, version, runtimeHint: "npx", ...stdio },
    { registryType: "pypi", identifier: names.pypi.chosen, version, runtimeHint: "uvx", ...stdio },
    ...bundles.map(({ file, sha256 }) => ({
      registryType: "mcpb",
      identifier: `${names.repository}/releases/download/v${version}/${file}`,
      version,
      fileSha256: sha256,
      transport: { type: "stdio" },
    })),
  ],
});

/** The manifest of the bundle for one platform. The program for Windows has no library toolset, so it needs no workspace. */
export const bundleManifest = ({ os, program }) => ({
  manifest_version: "0.3",
  name: "annai",
  display_name: "Annai",
  version,
  description: summary,
  author,
  repository: { type: "git", url: `${names.repository}.git` },
  homepage: `${names.repository}#readme`,
  documentation: `${names.repository}/blob/main/docs/tools.md`,
  support: `${names.repository}/issues`,
  server: {
    type: "binary",
    entry_point: `server/${program}`,
    mcp_config: {
      command: `\${__dirname}/server/${program}`,
      args: ["--stdio"],
      env: { OPENAI_API_KEY: "${user_config.openai_api_key}", ...(os !== "win32" && { WORKSPACE_ROOT: "${user_config.workspace}" }) },
    },
  },
  tools_generated: true,
  prompts_generated: true,
  keywords,
  license,
  compatibility: { platforms: [os] },
  user_config: {
    openai_api_key: {
      type: "string",
      title: "OpenAI API key",
      description: os === "win32" ? "For answers and web searches." : "For answers and web searches. Manuals and vault work without it.",
      sensitive: true,
      required: false,
      default: "",
    },
    ...(os !== "win32" && {
      workspace: {
        type: "directory",
        title: "Workspace",
        description: "The folder with the subfolders manuals (read only) and vault (written).",
        required: true,
        default: "${HOME}/Documents/annai",
      },
    }),
  },
});

/** The plugin for Claude Code, and the marketplace that lists it. */
const plugin = () => ({
  name: "annai",
  version,
  description: summary,
  author,
  homepage: `${names.repository}#readme`,
  repository: names.repository,
  license,
  keywords,
  userConfig: {
    openai_api_key: {
      type: "string",
      title: "OpenAI API key",
      description: "For answers and web searches. Manuals and vault work without it.",
      sensitive: true,
      required: false,
    },
  },
  mcpServers: {
    annai: {
      command: "npx",
      args: ["-y", `${names.npm.chosen}@${version}`, "--stdio"],
      env: { OPENAI_API_KEY: "${user_config.openai_api_key}" },
    },
  },
});
const marketplace = () => ({
  name: "annai",
  description: "Annai for Claude Code",
  owner: author,
  plugins: [{ name: "annai", source: "./packaging/claude-plugin", description: summary, category: "productivity" }],
});

/** The links that install the server in Cursor and VS Code. GitHub removes their own schemes, so these redirect to them. */
export function installLinks() {
  const server = { command: "npx", args: ["-y", names.npm.chosen, "--stdio"] };
  const input = { type: "promptString", id: "openai_api_key", description: "OpenAI API key (for answers and search only)", password: true };
  const cursor = new URLSearchParams({ name: "annai", config: Buffer.from(JSON.stringify(server)).toString("base64") });
  const config = { ...server, env: { OPENAI_API_KEY: "${input:openai_api_key}" } };
  const code = [["name", "annai"], ["inputs", JSON.stringify([input])], ["config", JSON.stringify(config)]];
  return {
    cursor: `https://cursor.com/en/install-mcp?${cursor}`,
    vscode: `https://vscode.dev/redirect/mcp/install?${code.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&")}`,
  };
}

export const generated = {
  "packaging/npm/annai/package.json": launcherManifest({
    name: names.npm.chosen,
    folder: "annai",
    description,
    bin: { annai: "build/index.js" },
    implied: [],
    mcpName: names.registry,
  }),
  "packaging/npm/openai-responses-mcp/package.json": launcherManifest({
    name: names.replaces.npm,
    folder: "openai-responses-mcp",
    description: "Lightweight MCP server (Responses API core). OpenAI integration + web_search.",
    bin: { [names.replaces.npm]: "build/index.js" },
    implied: ["--toolset", "answers"],
  }),
  "server.json": serverManifest(),
  "packaging/mcpb/manifest.json": bundleManifest(platforms[0]),
  "packaging/claude-plugin/.claude-plugin/plugin.json": plugin(),
  ".claude-plugin/marketplace.json": marketplace(),
};

/** What is wrong with files that people write, one sentence each. */
export function complaints() {
  const found = [];
  const expect = (path, what, actual, expected) => {
    if (actual !== expected) found.push(`${path}: ${what} is ${JSON.stringify(actual)}, but must be ${JSON.stringify(expected)}`);
  };
  for (const kind of ["npm", "pypi", "crate"]) {
    const { wanted, fallback, chosen } = names[kind];
    if (![wanted, fallback].includes(chosen)) found.push(`packaging/names.json: ${kind}.chosen is ${chosen}, but must be ${wanted} or ${fallback}`);
  }
  if (compareVersions(version, names.replaces.version) <= 0) {
    found.push(`Cargo.toml: the version ${version} must be above ${names.replaces.version} of ${names.replaces.npm}, which it replaces`);
  }
  if (keywords.length > 5 || keywords.some((word) => !/^[a-z][a-z0-9_-]{0,19}$/.test(word))) {
    found.push("Cargo.toml: crates.io takes at most five keywords of at most 20 characters each");
  }
  expect("Cargo.toml", "repository", toml("Cargo.toml", "workspace.package", "repository"), names.repository);
  for (const [, crate, required] of read("Cargo.toml").matchAll(/^(annai-\w+) = \{ path = [^}]*version = "([^"]+)"/gm)) {
    expect("Cargo.toml", `the version of the dependency ${crate}`, required, version);
  }
  for (const path of ["Cargo.lock", "fuzz/Cargo.lock"]) {
    for (const [, crate, locked] of read(path).matchAll(/^name = "(annai(?:-(?!fuzz)[a-z-]+)?)"\nversion = "([^"]+)"/gm)) {
      expect(path, `the version of ${crate}`, locked, version);
    }
  }
  expect("crates/annai/Cargo.toml", "name", toml("crates/annai/Cargo.toml", "package", "name"), names.crate.chosen);
  expect("packaging/python/pyproject.toml", "name", toml("packaging/python/pyproject.toml", "project", "name"), names.pypi.chosen);
  expect("packaging/python/pyproject.toml", "description", toml("packaging/python/pyproject.toml", "project", "description"), description);
  // The registry finds the owner of a Python package by this line of its readme.
  expect("packaging/python/README.md", "mcp-name", read("packaging/python/README.md").match(/mcp-name: (\S+)/)?.[1], names.registry);
  const packages = ["python/pyproject.toml", "python/README.md", "npm/annai/README.md", "npm/openai-responses-mcp/README.md"];
  for (const path of ["docs/install.md", "README.md", "README.ja.md", ...packages.map((page) => `packaging/${page}`)]) {
    // Pages also link to other projects; a repository of our name must be ours.
    const ownName = names.repository.split("/").at(-1);
    for (const [, repository] of read(path).matchAll(/(?:https:\/\/github\.com\/|plugin marketplace add )([\w-]+\/[\w-]+)/g)) {
      if (repository.endsWith(`/${ownName}`)) expect(path, "the repository", `https://github.com/${repository}`, names.repository);
    }
    for (const [command, name] of read(path).matchAll(/(?:npx -y|npm install -g|uvx|pip install|cargo install) (?![-.])([\w-]+)/g)) {
      const kind = /^np/.test(command) ? "npm" : /^cargo/.test(command) ? "crate" : "pypi";
      if (name !== names.replaces.npm) expect(path, `the name in \`${command}\``, name, names[kind].chosen);
    }
  }
  for (const [client, link] of Object.entries(installLinks())) {
    if (!read("docs/install.md").includes(`](${link})`)) found.push(`docs/install.md: the link for ${client} must be ${link}`);
  }
  return found;
}

/** Negative, zero or positive, as `a` is below, equal to or above `b`; without pre-releases, which are never replaced. */
export function compareVersions(a, b) {
  const parts = (version) => version.split("-")[0].split(".").map(Number);
  return parts(a).map((part, index) => part - parts(b)[index]).find((difference) => difference !== 0) ?? 0;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const [action] = argv.slice(2);
  if (action === "write") {
    for (const [path, manifest] of Object.entries(generated)) writeFileSync(root + path, text(manifest));
  } else if (action === "check") {
    const stale = Object.entries(generated).filter(([path, manifest]) => read(path) !== text(manifest));
    const found = [...stale.map(([path]) => `${path} is stale: node packaging/manifests.mjs write`), ...complaints()];
    for (const sentence of found) console.error(sentence);
    exit(found.length === 0 ? 0 : 1);
  } else {
    console.error("usage: node packaging/manifests.mjs write|check");
    exit(2);
  }
}
