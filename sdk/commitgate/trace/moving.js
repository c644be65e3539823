"use strict";
function go(index) {
  const last = pieces().length - 1;
  state.at = Math.min(Math.max(index, 0), Math.max(last, 0));
  byId("back").disabled = state.at <= 0;
  byId("on").disabled = state.at >= last;
  byId("wish-back").disabled = wishFrom(state.at, -1) === null;
  byId("wish-on").disabled = wishFrom(state.at, 1) === null;
  showStep();
}

function wishFrom(index, way) {
  const all = pieces();
  for (let at = index + way; at >= 0 && at < all.length; at += way) if (isWish(all[at])) return at;
  return null;
}

function goToWish(way) {
  const found = wishFrom(state.at, way);
  if (found !== null) go(found);
}

function showHelp() {
  const help = byId("help");
  help.hidden = !help.hidden;
  byId("help-button").setAttribute("aria-expanded", String(!help.hidden));
}

const KEYS = {
  ArrowRight: () => go(state.at + 1), j: () => go(state.at + 1), ArrowLeft: () => go(state.at - 1), k: () => go(state.at - 1),
  n: () => goToWish(1), p: () => goToWish(-1), Home: () => go(0), End: () => go(pieces().length - 1), "?": showHelp,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  /* Within what scrolls, the arrow keys and Home scroll. */
  if (event.target.closest && event.target.closest(".object, .text") && event.key.length > 1) return;
  event.preventDefault();
  KEYS[event.key]();
});
byId("back").addEventListener("click", () => go(state.at - 1));
byId("on").addEventListener("click", () => go(state.at + 1));
byId("wish-back").addEventListener("click", () => goToWish(-1));
byId("wish-on").addEventListener("click", () => goToWish(1));
byId("help-button").addEventListener("click", showHelp);
byId("strip").addEventListener("click", (event) => {
  const box = byId("strip").getBoundingClientRect();
  go(Math.floor(((event.clientX - box.left) / box.width) * pieces().length));
});

function showAll() {
  showHead();
  showStrip();
  showEnd();
  const first = pieces().findIndex(isWish);
  go(first === -1 ? 0 : first);
}
showAll();
