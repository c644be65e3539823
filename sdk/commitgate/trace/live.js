"use strict";
const POLL_MS = 400;
const PATIENCE_MS = 5000;
let follows = !trace.is_over;
let wait = POLL_MS;

/* Whoever moves to a step wants to stay there; whoever goes to the last one follows. */
function noteFollowing() {
  follows = state.at >= pieces().length - 1;
}

function take(added) {
  const { requests = [], ...head } = added;
  const known = Math.max(0, (trace.requests || []).length - 1);
  Object.assign(trace, head);
  trace.requests = trace.requests || [];
  requests.forEach((request, offset) => {
    const number = known + offset;
    const here = trace.requests[number];
    const from = here ? here.pieces.length : 0;
    if (here) {
      here.pieces.push(...(request.pieces || []));
      here.ending = request.ending;
      here.detail = request.detail;
    } else {
      trace.requests.push(request);
    }
    prepare(trace.requests[number], from);
    if (number === state.request) showTextPieces(from);
  });
}

function showAdded() {
  byId("live").hidden = Boolean(trace.is_over);
  showHead();
  showStrip();
  showEnd();
  if (byId("messages").childElementCount === 0) showSources();
  /* Whoever looks at one step keeps what he sees as it is, where he has scrolled to. */
  if (follows) go(pieces().length - 1);
  else showMoves();
}

async function poll() {
  if (trace.is_over) return;
  const last = Math.max(0, (trace.requests || []).length - 1);
  const request = (trace.requests || [])[last];
  const known = `request=${last}&piece=${request ? request.pieces.length : 0}`;
  try {
    const answer = await fetch(`${trace.source}?${known}`, { cache: "no-store", redirect: "error" });
    if (answer.status === 401 || answer.status === 404) return gone(answer.status);
    if (!answer.ok) throw new Error("not now");
    take(await answer.json());
    wait = POLL_MS;
    byId("live").textContent = "live";
    showAdded();
    if (trace.is_over && follows && current().wishes.length) go(current().wishes[0]);
  } catch {
    wait = Math.min(PATIENCE_MS, wait * 2);
    byId("live").textContent = "the server does not answer";
  }
  setTimeout(poll, wait);
}

function gone(status) {
  byId("live").hidden = false;
  byId("live").textContent = status === 401 ? "log in again to see more" : "no longer kept by the server";
}

const home = make("a", "home", "All recent answers");
home.href = trace.home;
document.querySelector(".eyebrow").prepend(home, " · ");
for (const name of ["keydown", "pointerdown", "click"]) document.addEventListener(name, () => setTimeout(noteFollowing, 0));
byId("live").hidden = Boolean(trace.is_over);
if (!trace.is_over) go(pieces().length - 1);
setTimeout(poll, POLL_MS);
