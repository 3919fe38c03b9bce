#!/usr/bin/env node
// Starts the program of the platform package that npm has installed next to this one.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";

const require = createRequire(import.meta.url);
const me = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const platform = `${process.platform}-${process.arch}`;
const isWindows = process.platform === "win32";

// On Linux there may be one for glibc and one for musl; usually npm installs only the one that fits.
const programs = Object.keys(me.optionalDependencies)
  .filter((name) => name.endsWith(`-${platform}`) || name.endsWith(`-${platform}-musl`))
  .flatMap((name) => {
    try {
      return [require.resolve(`${name}/annai${isWindows ? ".exe" : ""}`)];
    } catch {
      return [];
    }
  });

function start([program, ...others]) {
  if (program === undefined) {
    const known = Object.keys(me.optionalDependencies).join(", ");
    console.error(
      `${me.name}: there is no program for ${platform} in node_modules. It comes with one of the optional packages ${known}. ` +
        `If your platform is among them, install ${me.name} again without --omit=optional or --no-optional; ` +
        `otherwise build it from source: ${me.homepage}`,
    );
    process.exit(1);
  }
  const child = spawn(program, [...me.annai.arguments, ...process.argv.slice(2)], { stdio: "inherit" });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  // On Windows the console tells the program too, and `kill` would end it at once.
  const forward = (signal) => isWindows || child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.on("error", (error) => {
    for (const signal of signals) process.off(signal, forward);
    // The loader of the program is missing: it was made for the other C library.
    if (error.code === "ENOENT" && others.length > 0) return start(others);
    console.error(`${me.name}: cannot start ${program}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

start(programs);
