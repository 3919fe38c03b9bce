// What every test file needs: the server, a browser with hosts, and the pages. They end with the file, also after a failure.
import { after, before } from "node:test";
import { startAnnai } from "./annai.mjs";
import { startHost } from "./host.mjs";
import { readPages } from "./pages.mjs";

export const stage = {};

before(async () => {
  stage.annai = await startAnnai();
  stage.host = await startHost();
  stage.pages = await readPages(stage.annai.client);
});

after(async () => {
  await stage.host?.stop();
  await stage.annai?.stop();
});
