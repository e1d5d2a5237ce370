"use strict";

// ---- Making elements. Every name goes through text nodes or attributes, never through markup.

const $ = (id) => document.getElementById(id);

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  setAll(element, attributes);
  element.append(...children.filter((child) => child != null));
  return element;
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAll(element, attributes);
  element.append(...children);
  return element;
}

function setAll(element, attributes) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value != null && value !== false) element.setAttribute(key, value);
  }
}

const span = (look, ...children) => el("span", {class: look || null}, ...children);
const swatch = (colour) => el("span", {class: "swatch", style: `--c:${colour}`});

function toggle(text, colour, onchange) {
  const button = el("button", {type: "button", class: "chip", "aria-pressed": "true"}, colour && swatch(colour), text);
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    onchange(on);
  });
  return button;
}

let switches = 0;
function choice(label, options, onchange) {
  const group = `choice${switches++}`;
  return el("div", {class: "switch", role: "radiogroup", "aria-label": label},
    el("span", {"aria-hidden": "true"}, label),
    ...options.map(([value, text], i) => {
      const input = el("input", {type: "radio", name: group, value, onchange: () => onchange(value)});
      input.checked = i === 0;
      return el("label", {}, input, text);
    }));
}

// Columns are [heading, cell of a row, class]; the first one names the rows.
function fillTable(table, columns, rows, foot) {
  const line = (cells) => el("tr", {}, ...columns.map(([, , look], i) => i ? el("td", {class: look}, cells[i])
    : el("th", {scope: "row", class: look}, cells[i])));
  table.append(
    el("thead", {}, el("tr", {}, ...columns.map(([text, , look]) => el("th", {scope: "col", class: look}, text)))),
    el("tbody", {}, ...rows.map((row) => line(columns.map(([, cell]) => cell(row))))));
  if (foot) table.append(el("tfoot", {}, line(columns.map(([text]) => foot[text] ?? ""))));
}

// ---- Numbers. What is not known is shown as "?", never as 0.

const isKnown = (value) => typeof value === "number" && Number.isFinite(value);
const unknown = (why) => el("span", {class: "unknown", title: why || "unknown: no meter covered it"}, "?");
const sum = (values) => values.reduce((a, b) => a + (isKnown(b) ? b : 0), 0);
const integer = (value) => isKnown(value) ? value.toLocaleString("en") : "?";

const prefixes = ["p", "n", "µ", "m", "", "k", "M", "G", "T", "P"];
function prefixOf(value) {
  let power = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)) / 3);
  // 999.7 has to become 1.00 k, not 1.00e+3.
  if (Math.abs(+(value / 1000 ** power).toPrecision(3)) >= 1000) ++power;
  power = Math.max(-4, Math.min(5, power));
  return {scale: 1000 ** power, prefix: prefixes[power + 4]};
}

function siParts(value, unit) {
  if (value === 0) return ["0", unit];
  const {scale, prefix} = prefixOf(value);
  return [(value / scale).toPrecision(3), prefix + unit];
}

const si = (value, unit) => isKnown(value) ? siParts(value, unit).join("\u00a0") : "?";
const siNode = (value, unit, why) => isKnown(value) ? si(value, unit) : unknown(why);

function percent(part, whole) {
  if (!isKnown(part) || !isKnown(whole) || whole === 0) return "?";
  const share = 100 * part / whole;
  if (share > 0 && share < 0.1) return "<\u202f0.1\u00a0%";
  return `${share.toFixed(share === 0 || share >= 99.95 ? 0 : 1)}\u00a0%`;
}

function duration(seconds) {
  if (!(seconds >= 120)) return si(seconds, "s");
  const minutes = Math.floor(seconds / 60);
  return minutes < 120 ? `${minutes}\u00a0min ${Math.round(seconds % 60)}\u00a0s`
    : `${Math.floor(minutes / 60)}\u00a0h ${minutes % 60}\u00a0min`;
}

// Ticks at 1, 2 or 5 times a power of ten, and how many decimals tell them apart.
function ticks(most, about) {
  if (!(most > 0)) return {at: [0], decimals: 0};
  const raw = most / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const at = [];
  for (let i = 0; i * step <= most * 1.0001; ++i) at.push(i * step);
  return {at, step, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9))};
}

// ---- Colours

const phaseNames = ["forward", "backward", "optimizer"];
const phaseColour = (phase) => phaseNames.includes(phase) ? `var(--${phase})` : "var(--other)";
const devices = [];
function deviceColour(device) {
  let at = devices.indexOf(device);
  if (at < 0) at = devices.push(device) - 1;
  return `var(--device${at % 6})`;
}

function legend(element, entries) {
  element.replaceChildren(...entries.map(([text, colour, name]) =>
    span("", name ? span(`swatch ${name}`) : swatch(colour), text)));
}

