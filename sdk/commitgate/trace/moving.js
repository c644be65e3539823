"use strict";
const TWO_COLUMNS_PX = 832;

function go(index) {
  state.at = Math.min(Math.max(index, 0), Math.max(pieces().length - 1, 0));
  showStep();
  showObject();
  markText();
  showMoves();
}

function showMoves() {
  const all = pieces();
  byId("where").textContent = all.length ? `${unit()} ${state.at + 1} of ${all.length}` : "Nothing yet";
  byId("back").disabled = state.at <= 0;
  byId("on").disabled = state.at >= all.length - 1;
  byId("wish-back").disabled = wishFrom(state.at, -1) === null;
  byId("wish-on").disabled = wishFrom(state.at, 1) === null;
  showNeedle();
  markCards();
}

function wishFrom(index, way) {
  const { wishes } = current();
  const found = way > 0 ? wishes.find((at) => at > index) : wishes.findLast((at) => at < index);
  return found === undefined ? null : found;
}

function goToWish(way) {
  const found = wishFrom(state.at, way);
  if (found !== null) go(found);
}

function chooseRequest(number) {
  state.request = number;
  showRequest();
  byId("requests").children[number].focus();
}

function toggleHelp() {
  const help = byId("help");
  if (help.open) help.close();
  else help.showModal();
}

const KEYS = {
  ArrowRight: () => go(state.at + 1), j: () => go(state.at + 1), ArrowLeft: () => go(state.at - 1), k: () => go(state.at - 1),
  n: () => goToWish(1), p: () => goToWish(-1), Home: () => go(0), End: () => go(pieces().length - 1), "?": toggleHelp,
};
/* A slider also hears these. */
const STRIP_KEYS = {
  ArrowUp: () => go(state.at + 1), ArrowDown: () => go(state.at - 1), PageUp: () => go(state.at + 10), PageDown: () => go(state.at - 10),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isInStrip = event.target === byId("strip");
  const act = KEYS[event.key] || (isInStrip ? STRIP_KEYS[event.key] : undefined);
  if (!act || (byId("help").open && event.key !== "?")) return;
  /* Within what scrolls, Home and End scroll. */
  const scrolls = event.target instanceof Element && event.target.closest(".object, .text") !== null;
  if (scrolls && (event.key === "Home" || event.key === "End")) return;
  event.preventDefault();
  act();
});
byId("back").addEventListener("click", () => go(state.at - 1));
byId("on").addEventListener("click", () => go(state.at + 1));
byId("wish-back").addEventListener("click", () => goToWish(-1));
byId("wish-on").addEventListener("click", () => goToWish(1));
byId("help-button").addEventListener("click", toggleHelp);
byId("strip").addEventListener("pointerdown", (event) => {
  byId("strip").setPointerCapture(event.pointerId);
  go(stepUnder(event.clientX));
});
byId("strip").addEventListener("pointermove", (event) => {
  if (byId("strip").hasPointerCapture(event.pointerId)) go(stepUnder(event.clientX));
});
byId("marks").addEventListener("click", (event) => go(stepUnder(event.clientX)));
byId("text").addEventListener("click", (event) => {
  const piece = event.target instanceof Element ? event.target.closest("[data-step]") : null;
  if (piece) go(Number(piece.dataset.step));
});
function followLink(event) {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link) return;
  event.preventDefault();
  go(Number(link.dataset.step));
  /* Where the panel stands far below, whoever chose a step wants to see it. */
  byId("step-panel").focus({ preventScroll: window.innerWidth > TWO_COLUMNS_PX });
}
byId("wishes").addEventListener("click", followLink);
byId("lede").addEventListener("click", followLink);

let resizing = 0;
window.addEventListener("resize", () => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(() => { showStrip(); showNeedle(); });
});

function showHead() {
  byId("headline").textContent = headline();
  document.title = `${headline()} · ${harmless((trace.contract || {}).name || "")}`;
  showWishes();
  showAbout();
  showRequests();
}

function showRequest() {
  showHead();
  showStrip();
  showTextPieces(0);
  showSources();
  showEnd();
  const [first] = current().wishes;
  go(first === undefined ? 0 : first);
}

/* `#step-12` and `#request-2-step-12` name a step. */
function stepNamed() {
  const found = /^#(?:request-(\d{1,4})-)?step-(\d{1,7})$/.exec(location.hash);
  if (!found) return false;
  const request = Number(found[1] || 1) - 1;
  if (!(trace.requests || [])[request]) return false;
  if (request !== state.request) { state.request = request; showRequest(); }
  go(Number(found[2]) - 1);
  return true;
}

window.addEventListener("hashchange", stepNamed);
for (const request of trace.requests || []) prepare(request, 0);
state.request = Math.max(0, (trace.requests || []).length - 1);
showRequest();
stepNamed();
