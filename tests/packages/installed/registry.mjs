// A registry with the packed tarballs and nothing else, so that npm resolves names, tags and optional dependencies as from the real one.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { succeed } from "../parts.mjs";

export async function registry(t, folder) {
  const packages = new Map();
  const tarballs = new Map();
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".tgz"))) {
    const bytes = await readFile(join(folder, file));
    const manifest = JSON.parse(await succeed("tar", ["-xzOf", join(folder, file), "package/package.json"]));
    packages.set(manifest.name, { manifest, file, integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}` });
    tarballs.set(file, bytes);
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url.slice(1));
    if (tarballs.has(path)) return response.end(tarballs.get(path));
    const found = packages.get(path);
    response.statusCode = found ? 200 : 404;
    response.setHeader("content-type", "application/json");
    if (!found) return response.end("{}");
    const { manifest, file, integrity } = found;
    const dist = { tarball: `${address}/${file}`, integrity };
    response.end(JSON.stringify({ name: manifest.name, "dist-tags": { latest: manifest.version }, versions: { [manifest.version]: { ...manifest, dist } } }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const address = `http://127.0.0.1:${server.address().port}`;
  return address;
}

/** The one file in the folder whose name matches. */
export async function only(folder, pattern) {
  const files = (await readdir(folder)).filter((name) => pattern.test(name));
  if (files.length !== 1) throw new Error(`expected one file ${pattern} in ${folder}, found ${files.join(", ") || "none"}`);
  return join(folder, files[0]);
}
