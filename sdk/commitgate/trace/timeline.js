"use strict";
const state = { request: 0, at: 0, columns: [] };
const current = () => (trace.requests && trace.requests[state.request]) || { pieces: [], wishes: [], steps: 0 };
const pieces = () => current().pieces;
const LEAST_COLUMN_PX = 3;

function columnKind(piece) {
  if (isWish(piece)) return "wish";
  const kind = piece.step ? piece.step.kind : piece.kind === "thought" ? "thought" : "dull";
  return kind === "forced" || kind === "thought" ? kind : piece.mass === undefined ? "dull" : "drawn";
}

/* Where there are more steps than columns fit, one column stands for several: the one that most needs to be seen. */
function columnsOf(all, most) {
  const each = Math.max(1, Math.ceil(all.length / Math.max(1, most)));
  const columns = [];
  for (let from = 0; from < all.length; from += each) {
    const to = Math.min(from + each, all.length);
    let shown = from;
    for (let index = from + 1; index < to; index += 1) {
      const isWorse = weight(all[index]) < weight(all[shown]);
      if (isWorse) shown = index;
    }
    columns.push({ from, to, shown });
  }
  return columns;
}

const weight = (piece) => (isWish(piece) ? -1 : 1) + (piece.mass === undefined ? 0.5 : piece.mass / 2);

function showStrip() {
  const all = pieces();
  const strip = byId("strip");
  const room = Math.floor(strip.clientWidth / LEAST_COLUMN_PX) || 1;
  state.columns = columnsOf(all, room);
  strip.classList.toggle("dense", state.columns.length > room / 2);
  strip.replaceChildren(...state.columns.map(({ shown }) => {
    const column = make("i", columnKind(all[shown]));
    if (all[shown].mass !== undefined) column.style.setProperty("--mass", `${(all[shown].mass * 100).toFixed(2)}%`);
    return column;
  }));
  strip.setAttribute("aria-valuemax", String(Math.max(1, all.length)));
  const share = stripShare();
  byId("marks").replaceChildren(...current().wishes.map((index) => {
    const mark = make("i", "");
    mark.style.left = `${place(index) * share}%`;
    return mark;
  }));
}

/* Few steps do not fill the strip: each column has a greatest width. */
function stripShare() {
  const strip = byId("strip");
  const last = strip.lastElementChild;
  return last ? ((last.offsetLeft + last.offsetWidth - strip.offsetLeft) / Math.max(1, strip.clientWidth)) * 100 : 100;
}

/* The middle of a step's column, as a part of all columns. */
function place(index) {
  const each = state.columns.length ? state.columns[0].to - state.columns[0].from : 1;
  return (Math.floor(index / each) + 0.5) / Math.max(1, state.columns.length);
}

function showNeedle() {
  const all = pieces();
  const strip = byId("strip");
  byId("needle").hidden = all.length === 0;
  byId("needle").style.left = `${place(state.at) * stripShare()}%`;
  const piece = all[state.at];
  strip.setAttribute("aria-valuenow", String(all.length ? state.at + 1 : 1));
  const mass = piece && piece.mass !== undefined ? `, legal mass ${percent(piece.mass)}` : "";
  const wish = piece && isWish(piece) ? ", forbidden wish" : "";
  strip.setAttribute("aria-valuetext", `step ${state.at + 1} of ${all.length}${mass}${wish}`);
}

/* The step under a pointer; a forbidden wish right beside it goes first, since it may be a few pixels wide. */
function stepUnder(clientX) {
  const box = byId("strip").getBoundingClientRect();
  const width = (box.width * stripShare()) / 100;
  const count = state.columns.length;
  const number = Math.min(count - 1, Math.max(0, Math.floor(((clientX - box.left) / width) * count)));
  const reach = Math.floor(4 / (width / count));
  for (let off = 0; off <= reach; off += 1) {
    for (const near of [number - off, number + off]) {
      const column = state.columns[near];
      if (column && isWish(pieces()[column.shown])) return column.shown;
    }
  }
  return state.columns[number] ? state.columns[number].shown : 0;
}
