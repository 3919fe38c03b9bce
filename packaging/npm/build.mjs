// Completes a package folder: node packaging/npm/build.mjs PACKAGE. With a platform and its program, makes the platform package
// below FOLDER: node packaging/npm/build.mjs PLATFORM PROGRAM FOLDER
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { names, platformPackage, platforms, root } from "../facts.mjs";
import { platformManifest, text } from "../manifests.mjs";

const [subject, program, folder] = process.argv.slice(2);
if (program === undefined) launcherPackage(join(root, "packaging/npm", subject));
else platformFolder(platforms.find(({ id, target }) => [id, target].includes(subject)));

/** Both launcher packages contain the same files; their package.json tells the launcher what differs. */
function launcherPackage(at) {
  for (const made of ["build", "config"]) {
    rmSync(join(at, made), { recursive: true, force: true });
    mkdirSync(join(at, made));
  }
  copyFileSync(join(root, "packaging/npm/launcher.js"), join(at, "build/index.js"));
  chmodSync(join(at, "build/index.js"), 0o755);
  for (const file of ["config/config.yaml.example", "config/policy.md.example", "LICENSE"]) copyFileSync(join(root, file), join(at, file));
}

function platformFolder(platform) {
  if (!platform) throw new Error(`unknown platform ${subject}: expected one of ${platforms.map(({ id }) => id).join(", ")}`);
  const at = join(folder, platformPackage(platform));
  rmSync(at, { recursive: true, force: true });
  mkdirSync(at, { recursive: true });
  copyFileSync(program, join(at, platform.program));
  chmodSync(join(at, platform.program), 0o755);
  copyFileSync(join(root, "LICENSE"), join(at, "LICENSE"));
  writeFileSync(join(at, "package.json"), text(platformManifest(platform)));
  const missing = platform.os === "win32" ? " It has no library toolset, which needs Linux or macOS." : "";
  const note = platform.tested ? "" : `\nThis build is made by the release workflow and is not tested.${missing}\n`;
  writeFileSync(
    join(at, "README.md"),
    `# ${platformPackage(platform)}\n\nThe program of [${names.npm.chosen}](${names.repository}#readme) for ${platform.id}. Install \`${names.npm.chosen}\` instead of this package.\n${note}`,
  );
  console.log(at);
}
