// The cases of run.py, in Node.js with jsdom: opens the pages in a folder, does what a reader does
// with keys and mouse, and looks at what the reader then sees.
"use strict";

const assert = require("assert/strict");
const fs = require("fs");
const path = require("path");
const {JSDOM, VirtualConsole} = require("jsdom");

const [folder, filter = ""] = process.argv.slice(2);
const pages = fs.readdirSync(folder).filter((file) => file.endsWith(".html")).map((file) => file.slice(0, -5));

class Page {
  constructor(name) {
    const read = (ending) => fs.readFileSync(path.join(folder, name + ending), "utf8");
    this.account = JSON.parse(read(".json"));  // what the program says of the same run as JSON
    this.errors = [];
    const virtualConsole = new VirtualConsole();
    virtualConsole.on("jsdomError", (error) => {
      if (error.type !== "css parsing") this.errors.push(error.detail || error);
    });
    const watched = this;
    const beforeParse = (window) => {
      // jsdom lays nothing out, so what the page asks of the layout is given here.
      this.width = 1000;
      Object.defineProperty(window.HTMLElement.prototype, "clientWidth", {get: () => watched.width});
      window.ResizeObserver = class {
        constructor(callback) { watched.resized = callback; }
        observe() {}
      };
    };
    const {window} = new JSDOM(read(".html"), {runScripts: "dangerously", virtualConsole, beforeParse});
    this.window = window;
    this.document = window.document;
  }

  $(id) { return this.document.getElementById(id); }
  all(selector, within = this.document) { return [...within.querySelectorAll(selector)]; }
  data() { return JSON.parse(this.$("beryl-data").textContent); }
  node(...path) {
    return path.reduce((node, name) => node.children.find((child) => child.name === name), this.data().account.tree);
  }
  click(element) { element.dispatchEvent(new this.window.MouseEvent("click", {bubbles: true})); }
  press(key) {
    const event = new this.window.KeyboardEvent("keydown", {key, bubbles: true, cancelable: true});
    this.document.activeElement.dispatchEvent(event);
    return event.defaultPrevented;
  }
  choose(label, value) {
    const input = this.all(`[aria-label="${label}"] input`).find((one) => one.value === value);
    input.checked = true;
    input.dispatchEvent(new this.window.Event("change", {bubbles: true}));
  }
  async filterTree(text) {
    this.$("filter").value = text;
    this.$("filter").dispatchEvent(new this.window.Event("input", {bubbles: true}));
    await new Promise((done) => setTimeout(done, 200));  // the page waits until typing pauses
  }

  rows() { return this.all(".row", this.$("tree")); }
  row(name) { return this.rows().find((row) => nameOf(row) === name); }
  isOpen(name) { return this.row(name).getAttribute("aria-expanded") === "true"; }
  operations() {
    return this.all("tbody tr", this.$("operations")).map((row) => {
      const cells = this.all("td", row).map((cell) => cell.textContent);
      const name = row.querySelector(".long").getAttribute("title");
      return {name, phase: cells[1], device: cells[2], energy: cells[3], power: cells[4], time: cells[5], count: cells[6]};
    });
  }
  sortBy(heading) { this.click(this.all("th button", this.$("operations")).find((one) => one.textContent === heading)); }
}

const nameOf = (row) => row.querySelector(".name").textContent;
const namesOf = (rows) => rows.map(nameOf);
const sum = (values) => values.reduce((a, b) => a + b, 0);
const childrenOf = (node) => [...node.children].sort((a, b) => b.total_j - a.total_j).map(({name}) => name || "(no name)");

const partsOf = (node, by) => Object.entries(node[by]).filter(([, joules]) => joules > 0);

// "1.23 mJ" to 0.00123. Throws for what is not a number with a unit: "?", "NaN J", "undefined".
function valueOf(text) {
  const match = /^(-?[\d.]+)\s?([pnµmkMG]?)[JWs]$/.exec(text);
  assert(match, `not a quantity: "${text}"`);
  return Number(match[1]) * {p: 1e-12, n: 1e-9, µ: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9}[match[2]];
}

// Three digits are shown, so a half in the third is the most it may be off.
function shows(text, value) {
  assert(Math.abs(valueOf(text) - value) <= 0.00501 * Math.abs(value), `"${text}" is not ${value}`);
}

const cases = {};

for (const name of pages) {
  cases[`${name}_is_shown_without_an_error`] = () => {
    const page = new Page(name);
    assert.deepEqual(page.errors, []);
    assert.equal(page.$("failure").hidden, true, page.$("failure").textContent);
    assert.equal(page.document.querySelector("main").hidden, false);
    assert.equal(page.document.title, `${page.data().title} · Beryl`);
    assert(page.$("provenance").textContent.includes(page.account.context.tool));
    const {incomplete = []} = page.account.provenance;
    assert.equal(page.$("incomplete").hidden, name !== "incomplete");
    assert.equal(page.$("incomplete").textContent, incomplete.join(""));
    const {provenance} = page.data();
    for (const said of [provenance.when, ...provenance.sources]) {
      assert(page.$("provenance").textContent.includes(said), said);
    }
    const {import: read} = page.account;
    assert.match(page.$("import-lead").textContent, new RegExp(`^${read.events.toLocaleString("en")} events`));
    for (const part of ["main", "footer"]) {
      assert.doesNotMatch(page.document.querySelector(part).textContent, /NaN|undefined|null|Infinity|\[object/);
    }
  };

  cases[`${name}_has_the_totals_of_the_json`] = () => {
    const page = new Page(name);
    const {closure, tree, context, notes, import: read} = page.account;
    const files = [read.file, ...(read.files || []).map((file) => file.file)];
    const told = notes.filter((note) => note.class === "note" || (note.class !== "assumed" && !files.includes(note.source)))
      .map((note) => note.text);
    shows(page.$("total").textContent, sum(closure.map((books) => books.total_j)));
    const books = page.all("tbody tr", page.$("closure-table"));
    assert.equal(books.length, closure.length);
    books.forEach((row, i) => {
      const [device, total, attributed, idle] = [...row.children].map((cell) => cell.textContent);
      assert.equal(device, closure[i].device);
      shows(total, closure[i].total_j);
      shows(attributed, closure[i].attributed_j);
      shows(idle, closure[i].idle_j);
    });
    for (const stack of page.all("#books .stack")) {
      const shares = [...stack.children].map((part) => parseFloat(part.style.flexGrow));
      assert(Math.abs(sum(shares) - 1) < 1e-6, `the parts fill ${sum(shares)} of the bar`);
    }
    assert.match(page.$("law").textContent, /^The parts sum to what was measured/);
    assert.equal(page.$("facts").lastChild.textContent, `steps${context.steps}`);
    assert.deepEqual(page.all("#notes li").map((note) => note.textContent), told);
    assert.equal(page.$("notes").hidden, told.length === 0);
    const energy = page.rows()[0].querySelector(".number").textContent;
    if (tree.total_j === null) assert.equal(energy, "?");
    else shows(energy, tree.total_j);
  };
}

cases.the_tree_opens_and_closes_by_click = () => {
  const page = new Page("training");
  assert(page.isOpen("model") && page.isOpen("Net_0") && page.isOpen("Linear[0]"), "the costliest path is open");
  const closed = namesOf(page.rows()), at = closed.indexOf("Linear[1]") + 1;
  const below = childrenOf(page.node("Net_0", "Block_*", "Linear[1]"));
  assert(below.length > 1);

  page.click(page.row("Linear[1]"));
  assert(page.isOpen("Linear[1]"));
  assert.deepEqual(namesOf(page.rows()), [...closed.slice(0, at), ...below, ...closed.slice(at)]);
  page.click(page.row("Linear[1]"));
  assert(!page.isOpen("Linear[1]"));
  assert.deepEqual(namesOf(page.rows()), closed);

  // A click on what is open and not selected selects it; on its arrow it closes.
  page.click(page.row("Net_0"));
  assert(page.isOpen("Net_0"));
  assert.equal(page.row("Net_0").getAttribute("aria-selected"), "true");
  page.click(page.row("model").querySelector(".arrow"));
  assert.deepEqual(namesOf(page.rows()), ["model"]);
};

cases.the_tree_follows_the_keys = () => {
  const page = new Page("training");
  const focused = () => nameOf(page.document.activeElement);
  page.row("model").focus();
  assert(page.press("ArrowLeft"));
  assert.deepEqual(namesOf(page.rows()), ["model"]);
  assert.equal(focused(), "model", "the focus stays where it was");
  page.press("ArrowRight");
  assert(page.isOpen("model"));
  page.press("ArrowRight");
  assert.equal(focused(), "Net_0");
  assert.equal(page.all('[tabindex="0"]', page.$("tree")).length, 1);
  page.press("Enter");
  assert(!page.isOpen("Net_0"));
  page.press(" ");
  assert(page.isOpen("Net_0"));
  page.press("ArrowDown");
  assert.equal(page.document.activeElement.getAttribute("aria-level"), "3");
  page.press("ArrowUp");
  page.press("ArrowUp");
  assert.equal(focused(), "model");
  page.press("End");
  assert.equal(focused(), namesOf(page.rows()).at(-1));
  page.press("ArrowLeft");
  assert.equal(focused(), "model", "from a part that is not open to what it is in");
  page.press("Home");
  assert.equal(focused(), "model");
  assert(!page.press("x"), "other keys are the browser's");
};

cases.the_rows_of_the_tree_tell_energy_and_share = () => {
  const page = new Page("training");
  const root = page.node(), linear = page.node("Net_0", "Block_*", "Linear[0]");
  const numbers = (name) => page.all(".number", page.row(name)).map((one) => one.textContent);
  const percent = (part, whole) => `${(100 * part.total_j / whole.total_j).toFixed(1)}\u00a0%`;
  for (const child of root.children) shows(numbers(child.name)[0], child.total_j);
  assert.equal(numbers("Linear[0]")[1], percent(linear, root));
  page.choose("share of", "parent");
  assert.equal(numbers("Linear[0]")[1], percent(linear, page.node("Net_0", "Block_*")));

  const splitOf = (name) => page.row(name).querySelector(".share").getAttribute("title").split(", ");
  for (const by of ["phases", "devices"]) {
    page.choose("split by", by);
    assert.deepEqual(page.all("#tree-legend > span").map((one) => one.textContent).sort(), Object.keys(root[by]).sort());
    const split = Object.fromEntries(splitOf("Net_0").map((part) => part.split(/ (.*)/)));
    const expected = partsOf(page.node("Net_0"), by);
    assert.equal(Object.keys(split).length, expected.length);
    for (const [part, joules] of expected) shows(split[part], joules);
  }
};

cases.the_details_tell_of_the_selected_part = () => {
  const page = new Page("training");
  page.click(page.row("Linear[1]"));
  const node = page.node("Net_0", "Block_*", "Linear[1]"), details = page.$("details");
  assert.equal(details.querySelector("code").textContent, "Net_0/Block_*/Linear[1]");
  shows(details.querySelector("b").textContent, node.total_j);
  for (const [part, joules] of [...partsOf(node, "phases"), ...partsOf(node, "devices")]) {
    const told = page.all(".legend > span", details).find((one) => one.textContent.startsWith(part));
    shows(told.childNodes[1].textContent.slice(part.length + 1), joules);
  }
};

cases.the_details_show_every_column_the_tree_has = () => {
  const page = new Page("training");
  const node = page.node("Net_0");
  page.click(page.row("Net_0"));
  const told = page.all("#details .columns > span").map((one) => one.textContent.split("\u00a0")[0]);
  const others = page.node().columns.filter(({key, of}) => !of && key !== "energy_j" && node[key] !== null);
  assert.ok(others.length > 1);
  assert.deepEqual(told, others.map(({label}) => label));
};

cases.a_path_is_selected_where_there_is_no_clipboard = async () => {
  const page = new Page("training");
  page.click(page.row("Linear[1]"));
  const copy = page.$("details").querySelector("button");
  page.click(copy);
  await new Promise((done) => setTimeout(done, 0));
  assert.equal(copy.textContent, "Selected");
  assert.equal(page.window.getSelection().toString(), "Net_0/Block_*/Linear[1]");
};

cases.the_tree_is_filtered_by_name = async () => {
  const page = new Page("demo");
  const before = namesOf(page.rows());
  await page.filterTree("  gelu ");
  const marked = page.all("mark", page.$("tree")).map((one) => one.textContent);
  assert(marked.includes("GELU") && marked.every((text) => text.toLowerCase() === "gelu"), marked.join());
  assert.match(page.$("tree-lead").textContent, /^\d+ parts match\.$/);
  for (const row of page.rows()) {
    assert(row.querySelector("mark") || row.getAttribute("aria-expanded") === "true", nameOf(row));
  }
  await page.filterTree("nothing has this name");
  assert.deepEqual(page.rows(), []);
  assert.equal(page.$("tree-lead").textContent, "0 parts match.");
  await page.filterTree("");
  assert.deepEqual(namesOf(page.rows()), before);
  assert.deepEqual(page.errors, []);
};

cases.layers_that_repeat_are_folded = () => {
  const page = new Page("demo");
  assert.equal(page.row("BertLayer_*").querySelector(".times").textContent, "×12");
  assert.equal(page.$("label").textContent, "synthetic");
  assert.equal(page.$("label").hidden, false);
};

cases.operations_stand_in_the_order_that_is_asked_for = () => {
  const page = new Page("training");
  const check = (column, key, sign) => {
    const expected = page.account.summary.map((row) => row[key]).sort((a, b) => sign * (a - b));
    const shown = page.operations();
    assert.equal(shown.length, expected.length);
    shown.forEach((row, i) => column === "count" ? assert.equal(row.count, String(expected[i]))
      : shows(row[column], expected[i]));
    const heads = page.all("th[aria-sort]", page.$("operations"));
    assert.deepEqual(heads.map((head) => head.textContent), [column]);
    assert.equal(heads[0].getAttribute("aria-sort"), sign < 0 ? "descending" : "ascending");
  };
  check("energy", "energy_j", -1);
  page.sortBy("energy");
  check("energy", "energy_j", 1);
  for (const [column, key] of [["time", "seconds"], ["power", "power_w"], ["count", "count"]]) {
    page.sortBy(column);
    check(column, key, -1);
    page.sortBy(column);
    check(column, key, 1);
  }
};

cases.operations_are_filtered_by_phase_and_device = () => {
  const page = new Page("training");
  const key = (row) => `${row.phase} ${row.device} ${row.name}`;
  const check = (wanted) => assert.deepEqual(page.operations().map(key).sort(),
    page.account.summary.filter(wanted).map(key).sort());
  const chip = (phase) => page.all("#operations-tools .chip").find((one) => one.textContent === phase);
  check(() => true);
  page.click(chip("forward"));
  assert.equal(chip("forward").getAttribute("aria-pressed"), "false");
  check((row) => row.phase !== "forward");
  page.click(chip("backward"));
  check((row) => row.phase === "optimizer");
  page.click(chip("forward"));
  page.click(chip("backward"));
  const pick = page.$("operations-tools").querySelector("select");
  pick.value = "GPU:0";
  pick.dispatchEvent(new page.window.Event("change"));
  check((row) => row.device === "GPU:0");
  assert.deepEqual(page.errors, []);
};

cases.more_operations_are_shown_on_demand = () => {
  const page = new Page("demo");
  const {operations, summary} = page.account;
  const more = page.$("operations-more");
  assert.equal(page.operations().length, 25);
  assert.equal(page.$("operations-lead").textContent, `25 of ${summary.length} shown.`);
  page.click(more);
  assert.equal(page.operations().length, 125);
  assert.equal(more.textContent, `Show ${summary.length - 125} more`);
  page.click(more);
  assert.equal(page.operations().length, summary.length);
  assert.equal(more.hidden, true);
  page.choose("show", "each");
  assert.equal(page.operations().length, 25);
  const most = operations.map((row) => row.energy_j).sort((a, b) => b - a);
  page.operations().forEach((row, i) => shows(row.energy, most[i]));
};

cases.power_over_time_is_drawn_and_read = () => {
  const page = new Page("training");
  const {channels, steps, duration_s: length} = page.data().timeline;
  const drawn = page.$("plot").querySelector("svg");
  assert.equal(page.all('path[fill="none"]', drawn).length, channels.length);
  for (const line of page.all("path", drawn)) assert.doesNotMatch(line.getAttribute("d"), /NaN|undefined/);
  const texts = page.all("text", drawn).map((one) => one.textContent);
  assert.deepEqual(texts.filter((text) => /step/i.test(text)), steps.map((step) => step.name));

  page.$("plot").focus();
  assert(page.press("Home"));
  const buckets = channels[0].mean_w.length;
  const reading = (bucket) => {
    const told = page.$("readout").textContent;
    const known = channels.filter(({mean_w}) => mean_w[bucket] !== null);
    for (const {device, mean_w} of known) {
      shows(told.split(`${device} `)[1].split(" (")[0], mean_w[bucket]);
    }
    const now = Number(page.$("plot").getAttribute("aria-valuenow"));
    assert(Math.abs(now - (bucket + 0.5) * length / buckets) < 1e-12, `read at ${now}`);
    return known.length;
  };
  assert(reading(0) > 0);
  page.press("ArrowRight");
  reading(1);
  page.press("End");
  reading(buckets - 1);
  page.press("ArrowRight");
  reading(buckets - 1);
  const middle = new page.window.MouseEvent("pointermove", {bubbles: true, clientX: 46 + (1000 - 56) * 0.5 + 1});
  page.$("plot").dispatchEvent(middle);
  reading(buckets / 2);

  page.click(page.all("#channels .chip")[0]);
  assert.equal(page.all('#plot path[fill="none"]').length, channels.length - 1);
  assert(!page.$("readout").textContent.includes(channels[0].device));
  page.width = 600;
  page.resized();
  assert.match(page.$("plot").querySelector("svg").getAttribute("viewBox"), /^0 0 600 /);
  assert.deepEqual(page.errors, []);
};

cases.steps_stay_inside_the_plot = () => {
  const page = new Page("hostile");
  const {steps, duration_s: length} = page.data().timeline;
  assert(steps[0].end_s > 2 * length, "the step outlasts its operations");
  const marks = page.all("#plot .step").map((line) => Number(line.getAttribute("x1")));
  const label = page.all("#plot text").find((one) => one.textContent === steps[0].name);
  for (const x of [...marks, Number(label.getAttribute("x"))]) assert(x >= 46 && x <= 1000 - 10, `drawn at ${x}`);
};

cases.what_is_not_known_is_never_zero = () => {
  const page = new Page("partly_unknown");
  const bar = (name) => page.row(name).querySelector(".share").className;
  const numbers = (name) => page.all(".number", page.row(name)).map((one) => one.textContent);
  assert.deepEqual(numbers("B").slice(0, 2), ["?", "?"]);
  assert.equal(bar("B"), "share none");
  assert.equal(bar("A"), "share");
  assert.match(page.row("B").getAttribute("aria-label"), /energy unknown/);
  for (const direction of ["descending", "ascending"]) {
    assert.equal(page.$("operations").querySelector("[aria-sort]").getAttribute("aria-sort"), direction);
    assert.deepEqual(page.operations().map(({name, energy}) => [name, energy === "?"]), [["A", false], ["B", true]]);
    page.sortBy("energy");
  }

  const unknown = new Page("unknown");
  assert.equal(unknown.$("tree-lead").textContent, "The energy of no part is known: no meter covered it.");
  for (const {energy, power} of unknown.operations()) assert.deepEqual([energy, power], ["?", "?"]);
};

cases.a_run_with_its_model_shows_both = () => {
  const page = new Page("modelled");
  const {alignment, tree} = page.account;
  const said = page.$("alignment").textContent;
  assert.equal(page.$("alignment").hidden, false);
  assert(said.startsWith(`${alignment.model}: ${alignment.matched_modules} of ${alignment.described_modules} modules found`), said);
  for (const scope of alignment.not_found.slice(0, 5)) assert(said.includes(scope), said);
  // Chosen columns come in addition to the energy that the page is drawn by.
  const chosen = page.data().account.tree.columns.filter(({of}) => !of).map(({name}) => name);
  assert.deepEqual(chosen, ["energy", "flops", "ratio"]);
  assert(valueOf(page.all(".number", page.rows()[0])[0].textContent) > 0);
  const figures = page.$("details").querySelector(".columns").textContent;
  assert.match(figures, /FLOP/);
  // The ratio of a tiny model on another machine is far outside what was predicted.
  assert.equal(tree.ratio_marked, true);
  assert.match(figures, /!/);
  assert.equal(new Page("training").$("alignment").hidden, true);
};

cases.names_are_text_whatever_they_hold = async () => {
  const page = new Page("hostile");
  const {closure, operations} = page.account;
  const plain = new Page("training");
  const safe = () => {
    assert.equal(page.window.hacked, undefined);
    assert.equal(page.$("evil"), null);
    assert.equal(page.all("script").length, plain.all("script").length);
    assert.deepEqual(page.all("img, iframe, object, embed, form, base"), []);
    for (const element of page.all("*")) {
      assert(![...element.attributes].some(({name}) => name.startsWith("on")), element.outerHTML);
    }
    assert.deepEqual(page.errors, []);
  };
  safe();
  const module = page.node().children[0];
  assert.match(module.name, /^<\/script>/);
  assert.equal(page.$("title").textContent, page.data().title);
  assert.match(page.data().title, /<img/);
  assert.deepEqual(namesOf(page.rows()),
    ["model", module.name, ...childrenOf(module)]);
  assert.deepEqual(page.operations().map(({name}) => name), operations.map(({name}) => name));
  for (const {device} of closure) {
    assert(page.all("#books .name").some((one) => one.textContent === device));
    assert(page.all("#channels .chip").some((one) => one.textContent === device));
  }
  for (const row of page.rows()) {
    page.click(row);
    safe();
  }
  page.$("plot").focus();
  page.press("Home");
  await page.filterTree("</script>");
  assert(page.all("mark").some((one) => one.textContent === "</script>"));
  safe();
};

cases.data_that_cannot_be_shown_is_said = () => {
  const broken = fs.readFileSync(path.join(folder, "training.html"), "utf8").replace('"closure":[', '"closure":[null,');
  const errors = [];
  const virtualConsole = new VirtualConsole();
  virtualConsole.on("jsdomError", (error) => errors.push(error));
  const {window: {document}} = new JSDOM(broken, {runScripts: "dangerously", virtualConsole});
  assert.equal(document.getElementById("failure").hidden, false);
  assert.match(document.getElementById("failure").textContent, /^This report cannot be shown: /);
  assert(errors.length > 0);
};

(async () => {
  const chosen = Object.entries(cases).filter(([name]) => name.includes(filter));
  let failed = 0;
  for (const [name, run] of chosen) {
    const start = process.hrtime.bigint();
    try {
      await run();
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      console.log(`pass ${seconds.toFixed(2).padStart(7)} s  page/${name}`);
    } catch (error) {
      ++failed;
      console.log(`FAIL ${name}\n${error.stack}`);
    }
  }
  console.log(`${chosen.length - failed} passed, ${failed} failed`);
  process.exit(failed || !chosen.length ? 1 : 0);
})();
