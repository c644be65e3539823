"use strict";
const report = JSON.parse(document.getElementById("data").textContent);
const run = report.run;
const variants = report.summary.variants;
const level = `${Math.round(report.summary.confidence * 100)} %`;
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

const count = (number) => number.toLocaleString("en");

function percent(share) {
  if (share === null) return "–";
  if (share === 0 || share === 1) return `${share * 100} %`;
  return `${Math.min(Math.max(share * 100, 0.1), 99.9).toFixed(1)} %`;
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? "−" : "";
  if (size < 1) return `${sign}${(size * 1000).toFixed(size < 0.01 ? 1 : 0)} ms`;
  return sign + (size < 120 ? `${size.toFixed(1)} s` : `${(size / 60).toFixed(0)} min`);
}

const signed = (value, words) => (value > 0 ? "+" : "") + words(value);
const share = (rate) => (rate.reached ? rate.passed / rate.reached : null);
const bounds = (interval) =>
  (interval ? `${Math.round(interval.low * 100)} to ${Math.round(interval.high * 100)} %` : "–");
const WAYS = report.asked;
const SHORT = { constrained: "constrained", prompt_only: "prompt alone" };
const at = (part) => `${Math.min(Math.max(part, 0), 1) * 100}%`;
const titleOf = (name) => report.titles[name] || name.replaceAll("_", " ");

/* The sign of a way of asking: by form as well as by colour. */
const sign = (way) => make("i", `mark way-${way}`);

function legend(host, ways) {
  if (ways.length < 2) return;
  ways.forEach((name, way) => host.append(make("span", "", sign(way), name)));
}

function fact(number, words, mood) {
  return make("div", "fact" + (mood ? ` ${mood}` : ""), make("b", "", number), make("span", "", words));
}

function axis(...labels) {
  const inner = make("div", "", ...labels.map((label) => make("span", "", label)));
  const outer = make("div", "axis", inner);
  outer.setAttribute("aria-hidden", "true");
  return outer;
}

function plotRow(title, track, number, kind) {
  track.setAttribute("aria-hidden", "true");
  return make("div", `row${kind ? ` ${kind}` : ""}`, make("div", "label", title), track, number);
}

function whisker(interval, way, top, place = (value) => value) {
  const line = make("div", `whisker of-${way}`);
  line.style.left = at(place(interval.low));
  line.style.width = at(place(interval.high) - place(interval.low));
  line.style.top = top;
  return line;
}

function mark(part, way, top) {
  const found = sign(way);
  found.style.left = at(part);
  found.style.top = top;
  return found;
}

/* What a plot shows, for who reads numbers or hears them. */
function asTable(host, caption, heads, rows) {
  const head = make("tr", "", ...heads.map((words) => {
    const cell = make("th", "", words);
    cell.scope = "col";
    return cell;
  }));
  const body = make("tbody", "", ...rows.map((row) => make("tr", "", ...row.map((words, index) => {
    const cell = make(index ? "td" : "th", index ? "number" : "", words);
    if (!index) cell.scope = "row";
    return cell;
  }))));
  const table = make("table", "", make("caption", "hidden", caption), make("thead", "", head), body);
  const region = make("div", "wide", table);
  region.tabIndex = 0;
  region.setAttribute("role", "region");
  region.setAttribute("aria-label", caption);
  host.append(make("details", "numbers", make("summary", "", "As a table"), region));
}

const SPACE = "http://www.w3.org/2000/svg";

function shape(tag, className, attributes, text) {
  const found = document.createElementNS(SPACE, tag);
  if (className) found.setAttribute("class", className);
  for (const [name, value] of Object.entries(attributes || {})) found.setAttribute(name, value);
  if (text !== undefined) found.append(plainText(text));
  return found;
}

/* Draws at the width that there is, so that letters keep their size; draws again where it changes. */
function drawing(host, height, label, draw) {
  const svg = shape("svg", "drawing", { role: "img", "aria-label": plainText(label) });
  host.append(svg);
  let drawn = 0;
  const redraw = () => {
    const width = Math.round(host.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren();
    draw(svg, width, height);
  };
  redraw();
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe(host);
}

/* Steps that a person counts in: 1, 2 or 5 times a power of ten, at most so many of them. */
function ticks(most, wanted) {
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough);
  const found = [];
  for (let index = 0; index * step <= most * 1.0001; index += 1) found.push(index * step);
  return found;
}

function quantile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))];
}
