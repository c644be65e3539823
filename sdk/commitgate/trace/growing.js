"use strict";
const MOST_LINES = 1500;
const MOST_TEXT = 4000;

/* The schema at a place, as far as it can be told without judging: properties, items and references inside it. */
function schemaOf(schema, key) {
  const here = resolved(schema);
  if (!(here instanceof Map)) return null;
  if (typeof key === "number") return here.get("items") ?? null;
  const properties = here.get("properties");
  return properties instanceof Map ? properties.get(key) ?? null : null;
}

function resolved(schema) {
  let found = schema;
  for (let hops = 0; hops < 20 && found instanceof Map && typeof found.get("$ref") === "string"; hops += 1) {
    const reference = found.get("$ref");
    if (!reference.startsWith("#")) return null;
    found = reference.slice(1).split("/").slice(1).reduce(
      (place, part) => (place instanceof Map ? place.get(part.replaceAll("~1", "/").replaceAll("~0", "~")) : null), contractSchema);
  }
  return found;
}

const contractSchema = trace.contract && trace.contract.schema !== undefined ? grown(trace.contract.schema) : null;
const holdsNothing = trace.kind === "served" && contractSchema === null;

function awaited(schema, value) {
  const here = resolved(schema);
  const required = here instanceof Map ? here.get("required") : null;
  return Array.isArray(required) ? required.filter((key) => typeof key === "string" && !value.has(key)) : [];
}

function leafText(value) {
  if (typeof value === "string") return shortened(JSON.stringify(value), MOST_TEXT);
  return value !== null && typeof value === "object" ? value.number : String(value);
}

const finality = (isOpen) => make("span", "unseen", isOpen ? " (still open)" : " (final)");

/* One part of the value. `left` says how many parts are open along the last children from here on. */
function branch(value, left, key, schema, room) {
  const isOpen = left > 0;
  const label = typeof key === "string" ? make("span", "key", `${JSON.stringify(key)}: `) : null;
  room.lines -= 1;
  if (!(value instanceof Map || Array.isArray(value))) {
    const text = make("span", `value ${isOpen ? "open caret" : "final"}`, leafText(value));
    return make("li", "", label, text, finality(isOpen));
  }
  const entries = value instanceof Map ? [...value] : value.map((item, index) => [index, item]);
  const [opening, closing] = value instanceof Map ? ["{", "}"] : ["[", "]"];
  const inner = make("ul", "");
  entries.forEach(([name, item], number) => {
    if (room.lines <= 0) return;
    inner.append(branch(item, number === entries.length - 1 ? Math.max(0, left - 1) : 0, name, schemaOf(schema, name), room));
  });
  if (room.lines <= 0) inner.append(make("li", "absent", "… more than fits here"));
  if (isOpen && value instanceof Map) {
    for (const name of awaited(schema, value)) inner.append(make("li", "absent", `${JSON.stringify(name)}: not yet`));
  }
  return make("li", "", label, make("span", isOpen ? "open" : "final", opening), isOpen ? null : finality(false), inner,
    make("span", isOpen ? "open" : "final", isOpen ? "…" : closing), isOpen ? finality(true) : null);
}

function showObject() {
  const { value, open } = valueAt(pieces(), state.at);
  const list = make("ul", "");
  list.style.padding = list.style.margin = list.style.border = "0";
  if (value === undefined) {
    list.append(make("li", "absent", holdsNothing ? "nothing holds this answer to a form" : "nothing yet"));
    const schema = resolved(contractSchema);
    if (schema instanceof Map && schema.get("properties") instanceof Map) {
      for (const name of awaited(schema, new Map())) list.append(make("li", "absent", `${JSON.stringify(name)}: not yet`));
    }
  } else {
    list.append(branch(value, open, null, contractSchema, { lines: MOST_LINES }));
  }
  byId("object").replaceChildren(list);
  const end = byId("object").querySelector(".caret, li:last-child .open:last-of-type");
  if (end && byId("object").scrollHeight > byId("object").clientHeight) keepInView(byId("object"), end);
}

/* Scrolls a box alone, and never the page. */
function keepInView(box, element) {
  const [outer, inner] = [box.getBoundingClientRect(), element.getBoundingClientRect()];
  if (inner.top < outer.top + 8) box.scrollTop -= outer.top + 8 - inner.top;
  else if (inner.bottom > outer.bottom - 8) box.scrollTop += inner.bottom - outer.bottom + 8;
}

let marked = -1;

function pieceElement(piece, index) {
  const span = make("span", `piece later${isWish(piece) ? " wish" : ""}${piece.kind === "thought" ? " thought" : ""}`);
  span.textContent = harmlessLines(shortened(piece.text, MOST_TEXT));
  span.dataset.step = String(index);
  if (!piece.text.trim()) span.classList.add("blank");
  return span;
}

/* The whole text stands there once; a step only moves the mark, and what lies between. */
function showTextPieces(from) {
  if (from === 0) { marked = -1; byId("text").replaceChildren(); }
  byId("text").append(...pieces().slice(from).map((piece, offset) => pieceElement(piece, from + offset)));
}

function markText() {
  const spans = byId("text").children;
  if (spans[marked]) spans[marked].classList.remove("now");
  for (let index = Math.min(marked, state.at) + 1; index <= Math.max(marked, state.at); index += 1) {
    if (spans[index]) spans[index].classList.toggle("later", index > state.at);
  }
  marked = state.at;
  const now = spans[state.at];
  if (!now) return;
  now.classList.remove("later");
  now.classList.add("now");
  keepInView(byId("text"), now);
}
