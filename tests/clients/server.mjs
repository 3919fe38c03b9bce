// Starts a server over HTTP and waits until it says where it listens.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export function listening(command, args) {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}`)));
    createInterface({ input: child.stderr }).on("line", (line) => {
      const event = JSON.parse(line);
      if (event.msg === "listening") resolve({ url: new URL(event.url), stop: () => child.kill() });
    });
  });
}
