"use strict";
const report = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/* Text from elsewhere is shown with what acts on its reader, or hides from him, written out. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]/g;
const plainText = (text) =>
  String(text).replace(HIDDEN, (sign) => "\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0"));

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const child of children) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : plainText(child));
  }
  return element;
}

function percent(share) {
  if (share === null) return "–";
  if (share === 0 || share === 1) return `${share * 100} %`;
  return `${Math.min(Math.max(share * 100, 0.1), 99.9).toFixed(1)} %`;
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const size = Math.abs(seconds);
  if (size < 1) return `${(seconds * 1000).toFixed(size < 0.01 ? 1 : 0)} ms`;
  return size < 120 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(0)} min`;
}

const share = (rate) => (rate.reached ? rate.passed / rate.reached : null);
const WAYS = { constrained: "constrained", prompt_only: "by the prompt alone" };
const at = (part) => `${Math.min(Math.max(part, 0), 1) * 100}%`;

function fact(number, words, mood) {
  return make("div", "fact" + (mood ? ` ${mood}` : ""), make("b", "", number), make("span", "", words));
}

function axis(...labels) {
  const inner = make("div", "", ...labels.map((label) => make("span", "", label)));
  const outer = make("div", "axis", inner);
  outer.setAttribute("aria-hidden", "true");
  return outer;
}
