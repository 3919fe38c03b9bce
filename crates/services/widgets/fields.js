// The fields of a task's form, whose kinds follow from their names. A kind that refuses what does not fit it is chosen only
// where nothing else can be meant: an order number may be “A-123”, the size of a company “10-50”.

const FIELD_KINDS = [
  ["email", /e-?mail|メール/i, "email"],
  ["tel", /\b(phone|tel|mobile|fax)\b|電話|携帯/i, "tel"],
  ["url", /\b(url|website|homepage|link|portfolio)\b|サイト|ホームページ|リンク/i, "url"],
  ["date", /\b(date|birthday|birthdate|deadline|dob)\b|日付|生年月日|年月日|期限/i],
  ["number", /\b(age|count|quantity|years|score|headcount)$|(年齢|人数|件数|数量|年数)$/i],
  ["decimal", /\b(amount|budget|price)$|(金額|予算)$/i],
  ["long", /\b(feedback|comment|comments|opinion|message|reason|review|description)\b|意見|感想|理由|コメント|要望/i],
];
/** What fits the kinds that refuse something. */
const EXAMPLES = { email: "name@example.com", url: "example.com", number: "12" };
/** The longest value: the server takes 10,000 characters for all fields together. */
const MAX_VALUE = 2000;

/** The kind of input for a name such as `work_email`, `workEmail` or メールアドレス. */
function fieldKind(name) {
  return FIELD_KINDS.find(([, pattern]) => pattern.test(asWords(name)))?.[0] ?? "text";
}

/** A labelled input that writes into `values`, with a place for what is wrong with it. */
function field(app, { name, label, kind, hint, value, change, limit = MAX_VALUE, lines = 4 }) {
  const id = app.nextId();
  const common = { id, name, maxlength: limit, dir: "auto", "aria-describedby": `${id}-note`, "aria-required": "true" };
  const autocomplete = FIELD_KINDS.find(([known]) => known === kind)?.[2] ?? "on";
  const type = kind === "decimal" ? "text" : kind;
  const inputmode = type === kind ? null : kind;
  const control =
    kind === "long"
      ? h("textarea", { ...common, rows: lines })
      : h("input", { ...common, type, inputmode, autocomplete, step: kind === "number" ? "any" : null });
  control.value = value;
  const note = h("p.small", { id: `${id}-note` }, hint ?? "");
  control.addEventListener("input", () => {
    change(control.value);
    if (control.getAttribute("aria-invalid")) report("");
  });
  /** People leave out the scheme of an address. */
  const complete = () => {
    const text = control.value.trim();
    if (kind !== "url" || text.includes("://") || !/^\S+\.\S+$/.test(text)) return;
    control.value = `https://${text}`;
    change(control.value);
  };
  control.addEventListener("change", complete);
  const report = (problem) => {
    if (problem) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
    note.classList.toggle("wrong", Boolean(problem));
    note.replaceChildren(...(problem ? [icon("alert"), problem] : [hint ?? ""]));
  };
  /** Says what is wrong, and returns the control if something is. */
  const check = () => {
    complete();
    const problem =
      control.value.trim() === "" && control.validity.badInput !== true
        ? "fieldMissing"
        : control.validity.valid
          ? ""
          : kind === "date"
            ? "dateInvalid"
            : "fieldInvalid";
    report(problem && t(problem, { example: EXAMPLES[kind] }));
    return problem ? control : null;
  };
  return { element: h("div.field", h("label", { for: id, dir: "auto" }, label), control, note), check };
}

/**
 * A consent box, unticked until the user ticks it, with its purpose and how long the answer is kept. One that the service
 * requires is checked only in a form: a consent can always be withdrawn.
 */
function consentBox(app, { title, purpose, kept, isRequired, isChecked, value, change }) {
  const id = app.nextId();
  const box = h("input", {
    type: "checkbox",
    id,
    "aria-describedby": `${id}-facts ${id}-note`,
    "aria-required": isChecked ? "true" : null,
  });
  box.checked = value;
  const note = h("p.small.wrong", { id: `${id}-note` });
  const report = (problem) => {
    note.replaceChildren(...(problem ? [icon("alert"), problem] : []));
    if (problem) box.setAttribute("aria-invalid", "true");
    else box.removeAttribute("aria-invalid");
  };
  box.addEventListener("change", () => {
    change(box.checked);
    report("");
  });
  const check = () => {
    const isMissing = isChecked && !box.checked;
    report(isMissing ? t("consentMissing") : "");
    return isMissing ? box : null;
  };
  const badge = h("span.badge", t(isRequired ? "required" : "optional"));
  const fact = (term, description) => h("div", h("dt", term), h("dd", description));
  const element = h(
    "div.consent",
    h("label", { for: id }, box, h("span.consent-title", h("span", title), badge)),
    h("dl.small", { id: `${id}-facts` }, fact(t("purpose"), purpose), fact(t("kept"), kept)),
    note,
  );
  return { element, check };
}
