// The launcher of the npm packages, with the executable that ANNAI names in the place of a platform package.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { cleanEnvironment, connect, emptyFolder, isAnnai, isResponsesServer, names, root, run, succeed, version } from "./parts.mjs";

const platform = `${names.npm.chosen}-${process.platform}-${process.arch}`;

/** node_modules as npm would make it, without or with a platform package whose program is `program`. */
async function installed(t, { program = process.env.ANNAI, as = platform } = {}) {
  const folder = emptyFolder();
  const modules = join(folder, "node_modules");
  const launchers = {};
  for (const name of ["annai", "openai-responses-mcp"]) {
    const source = join(root, "packaging/npm", name);
    await succeed("npm", ["run", "--silent", "build"], { cwd: source });
    await cp(source, join(modules, name), { recursive: true });
    launchers[name] = join(modules, name, "build/index.js");
  }
  if (program) {
    await mkdir(join(modules, as));
    await symlink(program, join(modules, as, "annai"));
  }
  return { ...launchers, folder, home: join(folder, "home") };
}

test("both packages start the program, each with its tools", async (t) => {
  const { annai, "openai-responses-mcp": responses, home } = await installed(t);
  await isAnnai("node", [annai], home);
  await isResponsesServer("node", [responses], home);
});

test("options and exit statuses pass through", async (t) => {
  const { annai, "openai-responses-mcp": responses, home, folder } = await installed(t);
  const env = cleanEnvironment(home);
  assert.equal(await succeed("node", [responses, "--version"], { env }), `annai ${version}\n`);
  assert.equal((await run("node", [annai, "--no-such-option"], { env })).status, 2);
  const shown = await run("node", [responses, "--show-config", "--model", "gpt-x"], { env, cwd: folder });
  assert.equal(shown.status, 0, shown.stderr);
  assert.match(shown.stderr, /gpt-x/);
});

test("the program stops when the launcher is told to", async (t) => {
  const { annai, home, folder } = await installed(t);
  const child = spawn("node", [annai, "--http", "127.0.0.1:0"], { env: cleanEnvironment(home), cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const lines = createInterface({ input: child.stderr });
  await new Promise((resolve) => lines.on("line", (line) => line.includes('"listening"') && resolve()));
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
});

test("a program of another C library is skipped", { skip: process.platform !== "linux" }, async (t) => {
  const { annai, folder, home } = await installed(t, { as: `${platform}-musl` });
  const other = join(folder, "node_modules", platform);
  await mkdir(other);
  // The kernel answers "no such file" for a missing loader, which this missing interpreter stands for.
  await writeFile(join(other, "annai"), "#!/no/such/loader\n", { mode: 0o755 });
  await connect("node", [annai, "--stdio"], { env: cleanEnvironment(home), cwd: folder }, (client) => client.ping());
});

test("on Windows the program is annai.exe", async (t) => {
  const { annai, folder, home } = await installed(t, { program: null });
  const modules = join(folder, "node_modules", `${names.npm.chosen}-win32-x64`);
  await mkdir(modules);
  await symlink(process.env.ANNAI, join(modules, "annai.exe"));
  const pretend = "data:text/javascript,Object.defineProperties(process,{platform:{value:'win32'},arch:{value:'x64'}})";
  assert.equal(await succeed("node", ["--import", pretend, annai, "--version"], { env: cleanEnvironment(home) }), `annai ${version}\n`);
});

test("without a platform package the launcher says what to do", async (t) => {
  const { annai, home } = await installed(t, { program: null });
  const { status, stderr } = await run("node", [annai, "--stdio"], { env: cleanEnvironment(home) });
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`there is no program for ${process.platform}-${process.arch}.*${platform}.*--omit=optional`));
});
