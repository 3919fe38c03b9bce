// The pages as the server serves them, by the view that they begin with.
export const URIS = {
  list: "ui://widget/services-list.html",
  task: "ui://widget/task-form.html",
  dashboard: "ui://widget/user-dashboard.html",
};

export async function readPages(client) {
  const pages = {};
  for (const [entry, uri] of Object.entries(URIS)) {
    const { contents } = await client.readResource({ uri });
    // With PUBLIC_URL set, the server would not trust this machine's requests, and there would be no user.
    pages[entry] = contents[0].text.replace('"privacy_url":null', '"privacy_url":"https://annai.example.test/privacy"');
  }
  return pages;
}
