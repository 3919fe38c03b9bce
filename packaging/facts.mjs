// What every package has in common. The version is Cargo's; the names are those of names.json.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const read = (path) => readFileSync(root + path, "utf8");
export const names = JSON.parse(read("packaging/names.json"));

/** The value of a key in a section of a TOML file, for the simple values that we need. */
export function toml(path, section, key) {
  const body = read(path).split(/^\[/m).find((part) => part.startsWith(`${section}]`));
  const value = body?.match(new RegExp(`^${key} = (.+)$`, "m"))?.[1];
  if (value === undefined) throw new Error(`${path} has no ${key} in [${section}]`);
  return JSON.parse(value);
}

export const version = toml("Cargo.toml", "workspace.package", "version");
export const license = toml("Cargo.toml", "workspace.package", "license");
export const keywords = toml("Cargo.toml", "workspace.package", "keywords");
export const description = toml("crates/annai/Cargo.toml", "package", "description");
/** One sentence of at most 100 characters, which is all that the MCP registry takes. */
export const summary = "Grounded help: answers from the web with sources, local manuals, sponsored services";

/**
 * The platforms of a release. Only `tested` ones are installed and run by the tests; the release workflow builds the others.
 * `program` is the name of the executable file. Windows has no library toolset (docs/install.md).
 */
export const platforms = [
  { id: "linux-x64", os: "linux", cpu: "x64", libc: "glibc", target: "x86_64-unknown-linux-gnu", wheel: "manylinux2014", tested: true },
  { id: "linux-arm64", os: "linux", cpu: "arm64", libc: "glibc", target: "aarch64-unknown-linux-gnu", wheel: "manylinux2014" },
  { id: "linux-x64-musl", os: "linux", cpu: "x64", libc: "musl", target: "x86_64-unknown-linux-musl", wheel: "musllinux_1_2" },
  { id: "linux-arm64-musl", os: "linux", cpu: "arm64", libc: "musl", target: "aarch64-unknown-linux-musl", wheel: "musllinux_1_2" },
  { id: "darwin-x64", os: "darwin", cpu: "x64", target: "x86_64-apple-darwin" },
  { id: "darwin-arm64", os: "darwin", cpu: "arm64", target: "aarch64-apple-darwin" },
  { id: "win32-x64", os: "win32", cpu: "x64", target: "x86_64-pc-windows-gnu" },
].map((platform) => ({ ...platform, program: platform.os === "win32" ? "annai.exe" : "annai" }));

export const platformPackage = (platform) => `${names.npm.chosen}-${platform.id}`;
