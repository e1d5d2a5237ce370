// ---- Header

function showHeader(report) {
  const {context, closure, tree} = report.account;
  document.title = `${report.title} · Beryl`;
  $("title").textContent = report.title;
  $("label").textContent = context.label || "";
  $("label").hidden = !context.label;
  const isMetered = closure.length > 0;
  const total = sum(closure.map((books) => books.total_j));
  if (isMetered) {
    const [digits, unit] = siParts(total, "J");
    $("total").append(digits, el("small", {}, unit));
  } else {
    $("total").append(unknown());
  }
  const incomplete = report.account.provenance.incomplete || [];
  $("incomplete").append(...incomplete.map((text) => el("p", {}, text)));
  $("incomplete").hidden = !incomplete.length;
  $("source").append(context.energy_source || "");
  if (isKnown(tree.energy_j) && total > 0) {
    const phases = parts(tree, "phases").map(([phase, joules]) => `${phase} ${percent(joules, total)}`);
    const rest = tree.energy_j < 0.9995 * total ? "; the rest went to no operation" : "";
    if (phases.length) $("source").append(el("br"), `Of all the energy: ${phases.join(", ")}${rest}.`);
  }
  const power = isMetered ? sum(closure.map((books) => books.total_j / books.window_s)) : null;
  const seconds = Math.max(0, ...closure.map((books) => books.window_s));
  const facts = [["mean power", siNode(power, "W")],
    ["duration", isKnown(seconds) ? duration(seconds) : unknown("nothing ran")],
    ["steps", integer(context.steps)]];
  $("facts").append(...facts.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))));
}

// ---- Closure

function showClosure(closure, energySource) {
  if (!closure.length) {
    $("books").hidden = true;
    $("law").textContent = "No power was measured, so no energy is known.";
    return;
  }
  const kinds = ["attributed", "idle", "unattributed"];
  legend($("closure-legend"), [["attributed to operations", "", "attributed"], ["idle: no operation ran", "", "idle"],
    ["unattributed: no operation may claim it", "", "unattributed"]]);
  const most = Math.max(...closure.map((books) => books.total_j)) || 1;
  for (const books of closure) {
    const stack = el("div", {class: "stack", style: `width:${100 * books.total_j / most}%`},
      ...kinds.filter((kind) => books[`${kind}_j`] > 0).map((kind) => el("i", {
        // As shares: numbers that add up to less than 1, such as joules of a short run, would leave room.
        class: kind, style: `flex:${books[`${kind}_j`] / books.total_j} 0 0`,
        title: `${books.device}: ${kind} ${si(books[`${kind}_j`], "J")}, ${percent(books[`${kind}_j`], books.total_j)}`,
      })));
    $("books").append(span("name", books.device), el("div", {"aria-hidden": "true"}, stack),
      el("b", {}, si(books.total_j, "J")));
  }

  // One unit for the whole sum, so that it can be checked by eye.
  const totals = {};
  for (const kind of ["total", ...kinds]) totals[kind] = sum(closure.map((books) => books[`${kind}_j`]));
  const {scale, prefix} = prefixOf(totals.total);
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(totals.total / scale || 1)));
  const inUnit = (kind) => (totals[kind] / scale).toFixed(decimals);
  const left = Math.max(...closure.map((books) => Math.abs(books.closure_error)));
  const holds = left < 1e-6;
  $("law").classList.toggle("broken", !holds);
  $("law").append(`The parts ${holds ? "sum" : "do not sum"} to ${/\bestimated: /.test(energySource) ? "the known energy, which is partly an estimate" : "what was measured"}: ` +
    `${inUnit("attributed")} attributed + ${inUnit("idle")} idle + ${inUnit("unattributed")} unattributed ` +
    `${holds ? "=" : "≠"} ${inUnit("total")}\u00a0${prefix}J total (left over: ${left ? left.toExponential(1) : "0"} of it).`);

  const joules = (key) => (books) => si(books[key], "J");
  const some = (key) => closure.some((books) => books[key]);
  const columns = [
    ["device", (books) => books.device, "left"], ["total", joules("total_j")],
    ["attributed", joules("attributed_j")], ["idle", joules("idle_j")],
    some("outside_trace_j") && ["of idle: outside the trace", joules("outside_trace_j")],
    ["unattributed", joules("unattributed_j")],
    some("static_j") && ["of total: static", (books) => books.static_j == null ? "" : si(books.static_j, "J")],
    some("contained_j") && ["measured", joules("measured_j")],
    some("contained_j") && ["less contained channels", joules("contained_j")],
    ["left over", (books) => books.closure_error ? books.closure_error.toExponential(1) : "0"],
    some("uncovered_s") && ["operation time not metered", (books) => duration(books.uncovered_s)],
    ["window", (books) => duration(books.window_s)], ["readings", (books) => integer(books.readings)],
    ["between readings", (books) => books.policy, "left"],
    ["goes to", (books) => books.feeds + (books.within ? `; within ${books.within}` : ""), "left text"],
  ].filter(Boolean);
  const foot = {device: "all"};
  for (const kind in totals) foot[kind] = si(totals[kind], "J");
  fillTable($("closure-table"), columns, closure, closure.length > 1 && foot);
}

// What was not taken from the operation files stands with them.
function notesOfRun(account) {
  const {file, files = []} = account.import || {};
  const read = [file, ...files.map((one) => one.file)];
  return account.notes.filter((note) => note.class === "note" || (note.class !== "assumed" && !read.includes(note.source)))
    .map((note) => note.text);
}

function showNotes(notes) {
  $("notes").hidden = !notes.length;
  document.querySelector("#notes ul").append(...notes.map((note) => el("li", {}, note)));
}

