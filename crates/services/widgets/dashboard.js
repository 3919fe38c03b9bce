// The user's page: who they are, what they can run, and what they have done.

function dashboardView(app, { data }) {
  const services = objectsOf(data.available_services).sort(
    (one, other) => (other.ready === true) - (one.ready === true),
  );
  const tasks = objectsOf(data.completed_tasks);
  const email = textOr(data.email, "");
  const since = speech.date(data.registered_at);
  const toList = button(t("toList"), { kind: "quiet", symbol: "search", click: (target) => app.openList(target, {}) });
  return [
    app.backBar(),
    h(
      "header.top",
      email ? monogram(email) : null,
      h(
        "div.heading",
        h("h1", t("dashboardTitle")),
        h("p.lead", email ? bdi(email) : null, since ? h("span", phrase("memberSince", { date: since })) : null),
      ),
      toList,
    ),
    h(
      "section.stack-s",
      h("h2", t("services")),
      services.length > 0
        ? h(
            "ul.grid",
            services.map((service) => readyCard(app, service)),
          )
        : h("p.blank", t("emptyAll")),
    ),
    h(
      "section.stack-s",
      h("h2", { id: "completed" }, t("completed")),
      tasks.length > 0 ? taskTable(app, tasks) : h("p.blank", t("completedEmpty")),
    ),
  ];
}

function readyCard(app, item) {
  const key = textOr(item.service, "");
  const name = app.names.get(key) ?? (key ? asWords(key) : t("unnamed"));
  const sponsor = textOr(item.sponsor, t("aSponsor"));
  const isReady = item.ready === true;
  const run = () => app.openRun({ service: key, name, sponsor });
  const find = (target) => app.openList(target, { category: key });
  const badge = isReady ? h("span.badge.accent", icon("check"), t("ready")) : h("span.badge", t("waiting"));
  const act = isReady
    ? button(t("run"), { kind: "primary", symbol: "play", click: run, description: name })
    : button(t("seeTask"), { click: find, description: name });
  return h(
    "li.card",
    cardHead("h3", name, sponsor),
    h("div.card-foot", badge),
    key ? act : null,
  );
}

/** A table whose rows become blocks on a phone. The roles keep it a table for screen readers then. */
function taskTable(app, tasks) {
  const heads = [t("campaign"), t("taskName"), t("completedOn")];
  const row = (task) =>
    [textOr(task.campaign_name, "–"), asWords(textOr(task.task_name, "–")), speech.date(task.completed_at) ?? "–"].map(
      (value, index) =>
        h("td", { role: "cell" }, h("span.cell-label", { "aria-hidden": "true" }, heads[index]), bdi(value)),
    );
  return h(
    "table",
    { role: "table", "aria-labelledby": "completed" },
    h(
      "thead",
      { role: "rowgroup" },
      h(
        "tr",
        { role: "row" },
        heads.map((head) => h("th", { role: "columnheader", scope: "col" }, head)),
      ),
    ),
    h(
      "tbody",
      { role: "rowgroup" },
      tasks.map((task) => h("tr", { role: "row" }, row(task))),
    ),
  );
}
