// What the release workflow asks:
//   node packaging/release.mjs check TAG       tag, versions, names, repository and change log fit together
//   node packaging/release.mjs names           the chosen names are free or ours (needs the network)
//   node packaging/release.mjs notes           the section of CHANGELOG.md, for the GitHub release
//   node packaging/release.mjs server FOLDER   server.json with the bundles in FOLDER and their digests
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { argv, env, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { names, read, version } from "./facts.mjs";
import { compareVersions, complaints, generated, serverManifest, text } from "./manifests.mjs";

/** The text below `## [X.Y.Z] - YYYY-MM-DD`, or undefined. */
export function notes(changelog, version) {
  const section = changelog.split(/^## /m).find((part) => part.startsWith(`[${version}] `));
  return section?.replace(/^.*\n/, "").trim();
}

/** Why the tag must not be released; `repository` is owner/name where the workflow runs, if it does. */
export function refusals(tag, repository, changelog = read("CHANGELOG.md")) {
  const found = complaints();
  for (const [path, manifest] of Object.entries(generated)) {
    if (read(path) !== text(manifest)) found.push(`${path} is stale: node packaging/manifests.mjs write`);
  }
  if (tag !== `v${version}`) found.push(`the tag is ${tag}, but Cargo.toml has the version ${version}: expected v${version}`);
  if (!notes(changelog, version)) found.push(`CHANGELOG.md has no section "## [${version}] - YYYY-MM-DD" with text`);
  // npm refuses a provenance statement of another repository than that of package.json.
  if (repository && names.repository !== `https://github.com/${repository}`) {
    found.push(`packaging/names.json names the repository ${names.repository}, but this is ${repository}`);
  }
  return found;
}

/** Why a chosen name cannot be used, from what the package manager says about it (undefined when nobody has it). */
export function nameRefusal(kind, entry) {
  const { wanted, fallback, chosen } = names[kind];
  if (entry === undefined || entry.includes(names.repository)) return undefined;
  const advice = chosen === wanted ? `set ${kind}.chosen to ${fallback} in packaging/names.json and run node packaging/manifests.mjs write` : "choose another fallback";
  return `somebody else has the name ${chosen} (${kind}): ${advice}`;
}

/** What a package manager prints about a package, or undefined if it says with `missing` that there is none. */
function ask(missing, command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status === 0) return stdout;
  if (missing.test(stderr + stdout)) return undefined;
  throw new Error(`${command} ${args.join(" ")} failed: ${stderr}`);
}

function nameRefusals() {
  const npm = (name) => ask(/\bE404\b/, "npm", "view", name, "--json");
  const found = [
    nameRefusal("npm", npm(names.npm.chosen)),
    nameRefusal("crate", ask(/could not find/, "cargo", "info", names.crate.chosen)),
    nameRefusal(
      "pypi",
      ask(/No matching distribution/, "python3", "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", "-", names.pypi.chosen),
    ),
  ];
  for (const name of [names.npm.chosen, names.replaces.npm]) {
    const entry = npm(name);
    const latest = entry && JSON.parse(entry)["dist-tags"].latest;
    if (latest && compareVersions(version, latest) <= 0) found.push(`${name} is at ${latest} on npm, which is not below ${version}`);
  }
  return found.filter(Boolean);
}

const digest = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

if (argv[1] === fileURLToPath(import.meta.url)) {
  const [action, argument] = argv.slice(2);
  if (action === "check" || action === "names") {
    const found = action === "check" ? refusals(argument, env.GITHUB_REPOSITORY) : nameRefusals();
    for (const sentence of found) console.error(sentence);
    exit(found.length === 0 ? 0 : 1);
  } else if (action === "notes") {
    console.log(notes(read("CHANGELOG.md"), version) ?? exit(1));
  } else if (action === "server") {
    const files = readdirSync(argument).filter((file) => file.endsWith(".mcpb")).sort();
    console.log(text(serverManifest(files.map((file) => ({ file, sha256: digest(join(argument, file)) })))).trimEnd());
  } else {
    console.error("usage: node packaging/release.mjs check TAG | names | notes | server FOLDER");
    exit(2);
  }
}
