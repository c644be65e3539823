"use strict";
const trace = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

/* What acts on its reader, or hides from him, is written out: controls, signs that turn the direction of writing,
   blanks that are letters, halves of pairs, signs of private use. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
const escaped = (sign) => {
  const number = sign.codePointAt(0);
  return number > 0xffff ? `\\U${number.toString(16).padStart(8, "0")}` : `\\u${number.toString(16).padStart(4, "0")}`;
};
const harmless = (text) => String(text).replace(UNSEEN, escaped);
/* The same where lines may break. */
const harmlessLines = (text) => String(text).replace(UNSEEN, (sign) => (sign === "\n" ? sign : escaped(sign)));

function bytesOf(base64) {
  const raw = atob(base64 || "");
  const bytes = new Uint8Array(raw.length);
  for (let index = 0; index < raw.length; index += 1) bytes[index] = raw.charCodeAt(index);
  return bytes;
}

/* A token as it is spelled: spaces and line ends seen, half a character as its bytes; null of one that is no text. */
function spelled(base64) {
  if (base64 === null || base64 === undefined) return null;
  const bytes = bytesOf(base64);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return shortened(harmless(text.replaceAll("\n", "⏎")).replaceAll(" ", "␣"), 80);
  } catch {
    return Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  }
}

function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, most)}… (${(text.length - most).toLocaleString("en")} more)`;
}

function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const child of children) {
    if (child === null || child === undefined || child === "") continue;
    element.append(child instanceof Node ? child : harmless(child));
  }
  return element;
}

function percent(share) {
  if (share === null || share === undefined) return "–";
  if (share > 0 && share < 0.0001) return "< 0.01 %";
  if (share < 1 && share > 0.9999) return "> 99.99 %";
  return `${(share * 100).toFixed(share < 0.01 || share > 0.99 ? 2 : 1)} %`.replace(/^100\.00?/, "100");
}

function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  return seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms` : `${seconds.toFixed(2)} s`;
}

const counted = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

function likeliest(step) {
  let best = null;
  for (const choice of (step && step.choices) || []) if (!best || choice[2] > best[2]) best = choice;
  return best;
}

/* The model's own first choice was forbidden. Nothing is forbidden in its thoughts. */
function isWish(piece) {
  const best = piece.step && piece.step.kind !== "thought" ? likeliest(piece.step) : null;
  return Boolean(best) && !best[3];
}

/* What can be told of a request's pieces once: their texts, where characters may be cut between two, and the wishes. */
function prepare(request, from) {
  request.pieces = request.pieces || [];
  request.decoders = request.decoders || { text: decoder(), thought: decoder() };
  request.wishes = request.wishes || [];
  request.steps = request.steps || 0;
  for (let index = from; index < request.pieces.length; index += 1) {
    const piece = request.pieces[index];
    const kind = piece.kind === "thought" ? "thought" : "text";
    piece.text = piece.data ? request.decoders[kind].decode(bytesOf(piece.data), { stream: true }) : "";
    piece.mass = piece.step && piece.step.legal_mass !== undefined ? piece.step.legal_mass : piece.legal_mass;
    if (piece.step) request.steps += 1;
    if (isWish(piece)) request.wishes.push(index);
  }
}

const decoder = () => new TextDecoder("utf-8", { ignoreBOM: true });

/* Members stand in a Map, because a key may be called __proto__; an exact number in an object of its own. */
function grown(value) {
  if (Array.isArray(value)) return value.map(grown);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.$number === "string") return { number: value.$number };
  return new Map(Object.entries(value).map(([key, item]) => [key.startsWith("$") ? key.slice(1) : key, grown(item)]));
}

function put(place, key, value, isMore) {
  if (place instanceof Map) place.set(key, isMore ? place.get(key) + value : value);
  else if (Array.isArray(place)) place[Number(key)] = isMore ? place[Number(key)] + value : value;
}

function changed(root, [pointer, item, isMore]) {
  const value = grown(item);
  if (pointer === "") return isMore ? root + value : value;
  const way = pointer.slice(1).split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = way.pop();
  let place = root;
  for (const part of way) place = place instanceof Map ? place.get(part) : place && place[Number(part)];
  put(place, last, value, isMore);
  return root;
}

/* The value after a piece, and how many of its parts were still open; undefined where there was nothing to show. */
function valueAt(pieces, index) {
  let value;
  for (const piece of pieces.slice(0, index + 1)) for (const change of piece.changes || []) value = changed(value, change);
  const at = pieces[index];
  return { value, open: (at && at.open_parts) || 0 };
}
