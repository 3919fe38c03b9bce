// The services as cards.

/** How many cards are added at a time: more would make a page in a conversation endless. */
const PAGE_CARDS = 24;

/** The title of the list with the number of its services. */
const listTitle = (count) => [t("listTitle"), " ", h("span.small", count)];

/** A service of a search with everything that may be missing filled in. */
function readService(item) {
  const { service_id: id, service_type: type, required_task: task, subsidy_amount_cents: cents } = item;
  return {
    id: textOr(id, ""),
    isCampaign: type === "campaign",
    name: textOr(item.name, t("unnamed")),
    sponsor: textOr(item.sponsor, t("aSponsor")),
    task: textOr(task, null),
    cents: typeof cents === "number" ? cents : null,
    tags: [...new Set([...textsOf(item.category), ...textsOf(item.tags)])].slice(0, 6),
    keys: textsOf(item.service_keys),
    relevance: typeof item.relevance_score === "number" ? Math.min(1, Math.max(0, item.relevance_score)) : null,
  };
}

function listView(app, view) {
  const { data } = view;
  const services = objectsOf(data.services);
  for (const { service_type: type, service_keys: keys, name } of services)
    if (type !== "campaign" && textOr(name)) app.names.set(textsOf(keys)[0], name);
  const total = Math.max(services.length, Number.isFinite(data.total_count) ? data.total_count : 0);
  const toDashboard = button(t("toDashboard"), { kind: "quiet", click: (target) => app.openDashboard(target) });
  if (services.length === 0) return [app.backBar(), emptyList(app, data), h("div.actions.center", toDashboard)];

  const grid = h("ul.grid");
  const more = button("", { click: () => grow() });
  const foot = h("div.actions.center", more);
  const fill = () => {
    const items = services.slice(grid.children.length, view.shown);
    grid.append(...items.map((item) => serviceCard(app, readService(item))));
    const rest = services.length - grid.children.length;
    foot.hidden = rest === 0;
    relabel(more, t("more", { n: Math.min(rest, PAGE_CARDS) }));
  };
  const grow = () => {
    const first = grid.children.length;
    view.shown += PAGE_CARDS;
    fill();
    grid.children[first].querySelector("button")?.focus();
  };
  view.shown ??= PAGE_CARDS;
  fill();
  const count =
    total > services.length ? t("listCountOf", { n: services.length, total }) : t("listCount", { n: total });
  return [
    app.backBar(),
    h(
      "header.top",
      h("div.heading", h("h1", listTitle(count)), h("p.lead", t("listLead"))),
      toDashboard,
    ),
    grid,
    foot,
  ];
}

function emptyList(app, data) {
  const categories = textsOf(data.available_categories);
  const isFiltered = isObject(data.applied_filters) || categories.length > 0;
  const search = (args) => (target) => app.openList(target, args);
  return h(
    "section.state",
    h("span.emblem", icon("search")),
    h("h1", t("emptyTitle")),
    h("p", t(isFiltered ? "emptyFiltered" : "emptyAll")),
    categories.length > 0 ? h("h2", t("categories")) : null,
    h(
      "div.actions",
      categories.slice(0, 12).map((category) => button(category, { click: search({ category }) })),
    ),
    h("div.actions", button(t("showAll"), { kind: "primary", click: search({}) })),
  );
}

/** The name of a service and its sponsor. */
function cardHead(level, name, sponsor) {
  const texts = h("div", h(level, { dir: "auto" }, name), h("p.small", { dir: "auto" }, sponsor));
  return h("div.card-head", monogram(sponsor), texts);
}

function serviceCard(app, service) {
  const { name, sponsor, cents, relevance } = service;
  const isChosen = app.saved.selectedServiceId === service.id && service.id !== "";
  const fact = (symbol, ...content) => h("li", icon(symbol), h("span", content));
  const choose = (target) => app.choose(target, service);
  const label = service.isCampaign ? t(isChosen ? "continueTask" : "seeTask") : t("run");
  const canChoose = service.isCampaign ? service.id !== "" : service.keys.length > 0;
  const amount =
    cents === null
      ? null
      : phrase(service.isCampaign ? "sponsorPaysUpTo" : "price", { amount: speech.money(cents) });
  return h(
    "li",
    { class: isChosen ? "card chosen" : "card", "data-service": service.id },
    cardHead("h2", name, sponsor),
    h(
      "ul.facts",
      // A service whose own budget is empty is paid by campaigns, after their tasks.
      fact("task", service.task ? bdi(asWords(service.task)) : t("perhapsTask")),
      amount ? fact("gift", amount) : null,
    ),
    h(
      "ul.tags",
      service.tags.map((tag) => h("li", { dir: "auto" }, tag)),
    ),
    h(
      "div.card-foot",
      relevance === null ? null : match(t("match", { percent: speech.percent(relevance) }), relevance),
      isChosen ? h("span.badge.accent", icon("check"), t("chosen")) : null,
    ),
    canChoose ? button(label, { symbol: service.isCampaign ? null : "play", click: choose, description: name }) : null,
  );
}

/** How well a service fits, as a bar and in words. */
function match(label, relevance) {
  const bar = h("span.bar", { "aria-hidden": "true" }, h("span"));
  bar.firstChild.style.inlineSize = `${Math.round(relevance * 100)}%`;
  return h("span.match.small", bar, label);
}
