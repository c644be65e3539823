"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
const harmless = (text) => String(text).replace(UNSEEN, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);
const POLL_MS = 1000;

function cell(name, value, className) {
  const found = document.createElement("td");
  found.dataset.name = name;
  if (className) found.className = className;
  found.append(value instanceof Node ? value : harmless(value ?? "–"));
  return found;
}

function badge(outcome) {
  const found = document.createElement("span");
  found.className = `badge ${outcome === null ? "running" : outcome === "answered" ? "answered" : ""}`;
  found.textContent = outcome === null ? "running" : harmless(outcome);
  return found;
}

function percent(share) {
  if (share === null || share === undefined) return null;
  return share > 0 && share < 0.0001 ? "< 0.01 %" : `${(share * 100).toFixed(share < 0.01 ? 2 : 1)} %`;
}

function line(answer) {
  const row = document.createElement("tr");
  const link = document.createElement("a");
  link.href = `${data.answers_path}/${encodeURIComponent(answer.id)}`;
  link.textContent = new Date(answer.started_at * 1000).toLocaleTimeString();
  row.append(
    cell("began", link), cell("model", answer.model), cell("contract", answer.contract || "none"), cell("outcome", badge(answer.outcome)),
    cell("took", answer.total_s === null ? null : `${answer.total_s.toFixed(2)} s`, "number"), cell("steps", answer.steps, "number"),
    cell("forbidden wishes", answer.wishes, `number wishes${answer.wishes ? " some" : ""}`),
    cell("least legal mass", percent(answer.least_mass), "number"));
  return row;
}

let shown = "";

function show(answers) {
  const text = JSON.stringify(answers);
  /* A list that is the same is left as it is, and so is the focus in it. */
  if (text === shown) return;
  shown = text;
  const at = document.activeElement && document.activeElement.href;
  byId("empty").hidden = answers.length > 0;
  byId("answers").hidden = answers.length === 0;
  byId("answers").tBodies[0].replaceChildren(...answers.map(line));
  if (at) [...byId("answers").querySelectorAll("a")].find((link) => link.href === at)?.focus();
}

function tell(text) {
  byId("told").hidden = !text;
  byId("told").textContent = text;
}

async function poll() {
  try {
    const answer = await fetch(data.source, { cache: "no-store", redirect: "error" });
    if (answer.status === 401) { location.reload(); return; }
    if (!answer.ok) throw new Error("not now");
    show((await answer.json()).answers);
    tell("");
  } catch {
    tell("The server does not answer; this is what was there before.");
  }
  setTimeout(poll, POLL_MS);
}

byId("logout").addEventListener("click", async () => {
  await fetch(data.logout, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  location.reload();
});
show(data.answers);
setTimeout(poll, POLL_MS);
