// The program: one stack of views, three ways to begin. The result of a call that a view makes comes back to that view,
// and no second widget opens, so every page can show every view.

const VIEWS = {
  loading: loadingView,
  problem: problemView,
  list: listView,
  task: taskView,
  dashboard: dashboardView,
  run: runView,
};
const ENTRY_TOOLS = { list: "search_services", task: "get_task_details", dashboard: "get_user_status" };
/** How many of the user's actions the model is reminded of. */
const MAX_ACTIONS = 5;
/** How long the first result may take before trying again is offered. */
const RESULT_MS = 60_000;

/** The view that fits the data of a result. */
function viewOf(data, entry) {
  if (Array.isArray(data.services)) return { kind: "list", data };
  if (isObject(data.task_input_format) || typeof data.required_task === "string") return { kind: "task", data };
  if (Array.isArray(data.available_services) || Array.isArray(data.completed_tasks)) return { kind: "dashboard", data };
  return { kind: entry, data };
}

function createApp(root, entry, settings) {
  const screen = h("main.screen");
  const status = h("p.unseen", { role: "status" });
  root.append(screen, status);

  const actions = [];
  let stack = [];
  let context = {};
  let input = null;
  let lastResult = "";
  let ids = 0;
  let turn = 0;
  let patience;
  let hasActed = false;

  const current = () => stack[stack.length - 1];

  function render() {
    const view = current();
    document.documentElement.lang = speech.language;
    screen.setAttribute("aria-busy", String(view.kind === "loading"));
    screen.replaceChildren(...VIEWS[view.kind](app, view).filter(Boolean));
    document.title = screen.querySelector("h1").innerText;
  }

  /** Shows a view that the user asked for, from its top, with its heading focused. */
  function enter() {
    hasActed = true;
    render();
    scrollTo(0, 0);
    const heading = screen.querySelector("h1");
    if (!heading) return;
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }

  /**
   * Calls the tool of a view for a click and shows what it gives, unless the user has gone on meanwhile. The button is
   * disabled until then. What went wrong is a view of its own.
   */
  async function open(target, kind, args) {
    const own = ++turn;
    hasActed = true;
    setBusy(target, true);
    let view;
    try {
      const { data } = await bridge.callTool(ENTRY_TOOLS[kind], args);
      if (!data) throw new Failure("no_data");
      view = { kind, data };
    } catch (failure) {
      view = { kind: "problem", failure, retry: (again) => open(again, kind, args) };
    }
    setBusy(target, false);
    if (own !== turn) return;
    // The two main views begin anew; a problem gives way to what follows it.
    const left = view.kind === "list" || view.kind === "dashboard" ? ["list"] : ["list", "dashboard", "task", "run"];
    stack = [...stack.filter((each) => left.includes(each.kind) && each.kind !== view.kind), view];
    enter();
  }

  const app = {
    settings,
    saved: {},
    /** The names of services by their keys, as far as searches have told them: the user's page knows the keys alone. */
    names: new Map(),
    nextId: () => `field-${++ids}`,
    announce(text) {
      status.textContent = text;
    },
    /** Shows a view anew in its place, and focuses what `selector` names. */
    redraw(view, selector) {
      if (current() !== view) return;
      keepFocus(render);
      if (selector) screen.querySelector(selector)?.focus();
    },
    /** Shows a view whose state has changed as if it were another one. */
    refresh(view) {
      if (current() === view) enter();
    },
    /** Remembers what the user did, and tells the model, with what others wrote about it. */
    did(what, id, words, state = {}) {
      const text = `The user ${what} ID “${inSentence(id)}” in the widget. ${words}`;
      actions.push(text);
      if (actions.length > MAX_ACTIONS) actions.shift();
      Object.assign(app.saved, state, { lastAction: text.slice(0, 500) });
      bridge.saveState({ ...app.saved });
      bridge.tell(actions.join("\n"), { ...app.saved });
    },
    async say(target, text) {
      setBusy(target, true);
      const isSent = await bridge.send(text).then(
        () => true,
        () => false,
      );
      setBusy(target, false);
      relabel(target, t(isSent ? "sent" : "sendFailed"));
      app.announce(t(isSent ? "sent" : "sendFailed"));
    },
    backBar() {
      if (stack.length < 2) return null;
      const back = () => {
        turn += 1;
        stack.pop();
        enter();
      };
      return h("nav.back", button(t("back"), { kind: "quiet", symbol: "back", click: back }));
    },
    choose(target, service) {
      app.did("chose the service", service.id, bySponsor(service.name), { selectedServiceId: service.id });
      if (service.isCampaign) app.openTask(target, service.id);
      // Who pays for it is known when it has run.
      else app.openRun({ service: service.keys[0], name: service.name, sponsor: service.sponsor, isPayerOpen: true });
    },
    openTask: (target, id) => open(target, "task", { campaign_id: id }),
    openList: (target, args) => open(target, "list", args),
    openDashboard: (target) => open(target, "dashboard", {}),
    openRun(run) {
      turn += 1;
      stack = [...stack.filter(({ kind }) => kind !== "run"), { kind: "run", ...run }];
      enter();
    },
  };

  /** Calls the tool of the page itself: after a cancellation, an error, or when the host sent nothing. */
  function retryEntry(target) {
    if (!bridge.isConnected()) {
      load();
      bridge.connect();
      return;
    }
    // A task cannot be opened without its campaign.
    if (entry === "task" && !textOr(input?.campaign_id)) app.openList(target, {});
    else open(target, entry, input ?? {});
  }

  function fail(failure) {
    stack = [{ kind: "problem", failure, retry: retryEntry }];
    render();
  }

  /** Waits for the result that the host has or gets. */
  function load() {
    stack = [{ kind: "loading", target: entry }];
    render();
    clearTimeout(patience);
    patience = setTimeout(() => current().kind === "loading" && fail(new Failure("timed_out")), RESULT_MS);
  }

  const bridge = createBridge(settings.app, {
    context(changes) {
      const { locale, timeZone } = context;
      context = { ...context, ...changes };
      applyContext(context);
      if (context.locale === locale && context.timeZone === timeZone) return;
      speech = createSpeech(context.locale, context.timeZone);
      // What a user has typed is part of the view, and is there again.
      keepFocus(render);
    },
    input(args) {
      input = args;
      if (current().kind === "loading") {
        current().input = args;
        render();
      }
    },
    result(raw) {
      // Hosts send the same result again, with each change of their globals; what the user does meanwhile stays.
      const text = JSON.stringify(raw);
      if (text === lastResult) return;
      lastResult = text;
      if (hasActed) return;
      app.saved = { ...bridge.savedState(), ...app.saved };
      try {
        const { data } = readResult(raw);
        if (!data) return;
        stack = [viewOf(data, entry)];
        render();
      } catch (failure) {
        fail(failure);
      }
    },
    cancelled() {
      if (current().kind === "loading") fail(new Failure("cancelled"));
    },
    silent() {
      if (current().kind === "loading") fail(new Failure("silent"));
    },
    teardown() {
      clearTimeout(patience);
      observer.disconnect();
      screen.inert = true;
    },
  });
  app.bridge = bridge;

  /** Renders, and returns the focus to the element that is in the place of the focused one. */
  function keepFocus(draw) {
    const focusable = () => [...screen.querySelectorAll("button, input, textarea, a")];
    const index = focusable().indexOf(document.activeElement);
    const top = scrollY;
    draw();
    if (index >= 0) focusable()[index]?.focus({ preventScroll: true });
    scrollTo(0, top);
  }

  // Beyond the height that the host can give, the page scrolls.
  const observer = new ResizeObserver(() => {
    const limit = context.containerDimensions?.maxHeight;
    bridge.resize(Math.min(Math.ceil(root.getBoundingClientRect().height), limit > 0 ? limit : Infinity));
  });
  observer.observe(root);
  load();
  bridge.start();
}

/** Theme, fonts and colours, display mode and safe area of the host. */
function applyContext({ theme, styles, displayMode, safeAreaInsets }) {
  const page = document.documentElement;
  if (theme === "light" || theme === "dark") page.dataset.theme = theme;
  if (typeof displayMode === "string") page.dataset.display = displayMode;
  for (const [name, value] of Object.entries(isObject(styles?.variables) ? styles.variables : {})) {
    if (/^--(color|font|border|shadow)-[\w-]+$/.test(name) && typeof value === "string")
      page.style.setProperty(name, value);
  }
  for (const side of ["top", "right", "bottom", "left"]) {
    const inset = safeAreaInsets?.[side];
    if (Number.isFinite(inset)) page.style.setProperty(`--inset-${side}`, `${Math.max(0, inset)}px`);
  }
}

createApp(document.body, document.body.dataset.entry, JSON.parse(document.getElementById("settings").textContent));
