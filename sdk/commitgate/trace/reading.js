"use strict";
const trace = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const utf8 = new TextDecoder("utf-8");

/* What acts on its reader, or hides from him, is written out. */
const HIDDEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]/g;
const harmless = (text) =>
  String(text).replace(HIDDEN, (sign) => "\\u" + sign.charCodeAt(0).toString(16).padStart(4, "0"));

function bytesOf(base64) {
  const raw = atob(base64 || "");
  const bytes = new Uint8Array(raw.length);
  for (let index = 0; index < raw.length; index += 1) bytes[index] = raw.charCodeAt(index);
  return bytes;
}

function joined(pieces) {
  const parts = pieces.map((piece) => bytesOf(piece.bytes));
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let place = 0;
  for (const part of parts) { all.set(part, place); place += part.length; }
  return utf8.decode(all);
}

/* A token as it is spelled: spaces and line ends visible, and half a character as its bytes. */
function spelled(base64) {
  if (base64 === null) return null;
  const bytes = bytesOf(base64);
  const text = utf8.decode(bytes);
  if (text.includes("\ufffd")) return Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  return harmless(text).replaceAll(" ", "␣").replaceAll("\n", "⏎");
}

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const child of children) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : harmless(child));
  }
  return element;
}

function percent(part) {
  if (part === null || part === undefined) return "–";
  if (part > 0 && part < 0.0001) return "< 0.01 %";
  return `${(part * 100).toFixed(part < 0.01 ? 2 : 1)} %`;
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  return seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms` : `${seconds.toFixed(2)} s`;
}

const likeliest = (step) => step.choices.reduce((best, each) => (best && best[2] >= each[2] ? best : each), null);
const isWish = (piece) => {
  const step = piece.step;
  return Boolean(step && step.kind !== "thought" && step.choices.length && !likeliest(step)[3]);
};

function setAt(root, pointer, value) {
  if (pointer === "") return value;
  const parts = pointer.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  let place = root;
  for (const part of parts.slice(0, -1)) place = place instanceof Map ? place.get(part) : place[Number(part)];
  const last = parts[parts.length - 1];
  if (place instanceof Map) place.set(last, value);
  else place[Number(last)] = value;
  return root;
}

/* Members of a Map, because a key may be called __proto__. */
function grown(value) {
  if (Array.isArray(value)) return value.map(grown);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.$number === "string") return { number: value.$number };
  return new Map(Object.entries(value).map(([key, item]) => [key, grown(item)]));
}

function valueAt(pieces, index) {
  let value;
  const final = new Set();
  for (const piece of pieces.slice(0, index + 1)) {
    for (const [pointer, item] of piece.set || []) value = setAt(value, pointer, grown(item));
    for (const pointer of piece.final || []) final.add(pointer);
  }
  return { value, final };
}
