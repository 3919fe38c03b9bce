// Temporary folders and child processes of tests, removed and ended when the process of the tests exits. A hook of one test
// would be too early: hooks run in the order in which they were added, so that a folder would be removed while the server
// that was started later still writes to it, and the hook that fails keeps the later ones, which stop servers, from running.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const children = new Set();
const folders = new Set();

process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

/** A new folder, which is removed at the end. */
export function temporaryFolder(prefix) {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  folders.add(folder);
  return folder;
}

/** Kills a child process at the end if it still runs then. */
export function killAtExit(child) {
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}
