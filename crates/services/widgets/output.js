// The text of a result, in which services mark headings, bold text and links as Markdown does.

/**
 * A heading, bold text, a link with its text, or an address. An address may contain brackets in pairs; the punctuation that
 * ends its sentence, and Japanese text that follows it without a space, are no part of it.
 */
const MARKS =
  /^#{1,6}[^\S\n]+(.+)$|\*\*([^*\n]+)\*\*|!?\[([^\][\n]{1,300})\]\((https?:\/\/(?:[^\s()]|\([^\s()]*\))+)\)|https?:\/\/(?:[!#-'*-;=?-~]|\([!#-'*-;=?-~]*\))*(?:[\w#$%&/=@~+-]|\([!#-'*-;=?-~]*\))/gm;
/** The most marks that are read; the rest of a text is shown as it is. */
const MAX_MARKS = 1000;

/** A link that the host opens. Where it does not, the address is left to be copied. */
function outputLink(app, text, url) {
  const click = (event) => {
    event.preventDefault();
    app.bridge.openLink(url).catch(() => {
      link.textContent = url;
    });
  };
  const link = h("a", { href: url, dir: "auto", click }, text);
  return link;
}

/** A text as nodes: headings and bold text without their marks, and links. */
function readMarks(app, text, isInner = false) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(MARKS)) {
    const [whole, heading, bold, label, url] = match;
    const inner = heading ?? bold;
    nodes.push(text.slice(end, match.index));
    if (inner === undefined) nodes.push(outputLink(app, label ?? whole, url ?? whole));
    else nodes.push(isInner ? inner : h("strong", readMarks(app, inner, true)));
    end = match.index + whole.length;
    if (nodes.length > MAX_MARKS) break;
  }
  return [...nodes, text.slice(end)];
}
