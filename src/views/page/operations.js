// ---- Operations

function showOperations(account) {
  const firstShown = 25, moreShown = 100;
  const all = {each: account.operations, folded: account.summary};
  let which = all.folded.length ? "folded" : "each", device = "", limit = firstShown;
  let sortBy = "energy_j", isDown = true;
  const offPhases = new Set();
  const phases = phaseNames.filter((phase) => account.operations.some((row) => row.phase === phase));
  const names = [...new Set([...account.operations, ...account.summary].map((row) => row.device))].sort();

  $("operations").hidden = !names.length;
  const reset = () => { limit = firstShown; render(); };
  const views = [["folded", "repeated layers folded"], ["each", "each layer"]];
  if (all.folded.length) $("operations-tools").append(choice("show", views, (value) => { which = value; reset(); }));
  $("operations-tools").append(...phases.map((phase) => toggle(phase, phaseColour(phase), (on) => {
    on ? offPhases.delete(phase) : offPhases.add(phase);
    reset();
  })));
  if (names.length > 1) {
    const pick = (event) => { device = event.target.value; reset(); };
    $("operations-tools").append(el("select", {"aria-label": "Device", onchange: pick},
      el("option", {value: ""}, "all devices"), ...names.map((name) => el("option", {value: name}, name))));
  }

  const columns = [["", "operation", "left"], ["", "phase", "left phase"], ["", "device", "left device"], ["energy_j", "energy"],
    ["power_w", "power"], ["seconds", "time"], ["count", "count"], ["", "± per step", "deviation"]];
  const heads = columns.map(([key, text, look]) => el("th", {scope: "col", role: "columnheader", class: look},
    key ? el("button", {type: "button", onclick: () => {
      isDown = sortBy === key ? !isDown : true;
      sortBy = key;
      reset();
    }}, text) : text));
  const body = el("tbody", {role: "rowgroup"});
  $("operations").append(el("thead", {role: "rowgroup"}, el("tr", {role: "row"}, ...heads)), body);

  // The roles are spelled out because a narrow page lays the table out as a grid, and browsers then forget them.
  const cell = (look, ...children) => el("td", {role: "cell", class: look || null}, ...children);
  function nameCell(row) {
    // The end of a name tells operations apart, so its beginning is what gives way.
    const cut = row.name.lastIndexOf("/", row.name.lastIndexOf("/") - 1) + 1;
    const type = row.type && !row.name.endsWith(row.type) ? [row.type] : [];
    const under = [...type, ...(row.shapes || [])].join(" · ");
    return cell("",
      el("div", {class: "long name", title: row.name},
        cut ? span("scope", row.name.slice(0, cut)) : null, span("", row.name.slice(cut) || "(no name)"),
        row.layers > 1 ? el("b", {class: "times", title: layersOf(row)}, `×${row.layers}`) : null),
      under ? el("div", {class: "shape name", title: under}, under) : null);
  }

  function render() {
    columns.forEach(([key], i) => {
      if (key && key === sortBy) heads[i].setAttribute("aria-sort", isDown ? "descending" : "ascending");
      else heads[i].removeAttribute("aria-sort");
    });
    const rows = all[which].filter((row) => !offPhases.has(row.phase) && (!device || row.device === device));
    // What is not known stands last in either direction.
    const sign = isDown ? 1 : -1;
    rows.sort((a, b) => (isKnown(b[sortBy]) - isKnown(a[sortBy])) || sign * (b[sortBy] - a[sortBy]) || 0);
    const most = Math.max(...rows.map((row) => row.energy_j || 0), 0);
    body.replaceChildren(...rows.slice(0, limit).map((row) => el("tr", {role: "row"},
      nameCell(row),
      cell("left phase", swatch(phaseColour(row.phase)), row.phase),
      cell("left device name", row.device),
      cell("", siNode(row.energy_j, "J"), row.energy_j > 0
        ? el("div", {class: "meter", style: `width:${100 * row.energy_j / most}%;--c:${phaseColour(row.phase)}`}) : null),
      cell("", siNode(row.power_w, "W")),
      cell("", siNode(row.seconds, "s", "unknown")),
      cell("", integer(row.count)),
      cell("deviation dim", isKnown(row.deviation_step_j) ? el("span",
        {title: `mean per step: ${si(row.mean_step_j, "J")}`}, `± ${si(row.deviation_step_j, "J")}`) : ""))));
    const total = which === "each" ? account.operations_total : account.summary_total, kept = all[which].length;
    const cut = total > kept ? `, out of the ${integer(kept)} that took the most energy of ${integer(total)}` : "";
    $("operations-lead").textContent = !names.length ? "There are none."
      : `${integer(Math.min(limit, rows.length))} of ${integer(rows.length)} shown${cut}.`;
    const left = rows.length - limit;
    $("operations-more").hidden = left <= 0;
    $("operations-more").textContent = `Show ${Math.min(left, moreShown)} more`;
  }
  $("operations-more").addEventListener("click", () => { limit += moreShown; render(); });
  render();
}

// ---- What was read, and by what

function showImport(facts) {
  $("import-lead").textContent =
    `${integer(facts.events)} events of format ${facts.format}, ${integer(facts.operations)} operations.`;
  const rows = [["dropped", facts.dropped], ["repaired", facts.repaired], ["skipped", facts.skipped]]
    .flatMap(([what, list]) => (list || []).map((entry) => ({what, ...entry})));
  if (!rows.length) {
    $("import-lead").append(" Nothing was dropped, repaired or skipped.");
    return;
  }
  fillTable($("import"), [["events", (row) => row.what, "left"], ["because", (row) => row.reason, "left text"],
    ["count", (row) => integer(row.count)], ["first at byte", (row) => integer(row.first_offset)]], rows);
}

function showProvenance(report) {
  const {context, provenance = {}} = report.account;
  const offset = context.clock_offset_us;
  const facts = [
    ["made by", [context.tool, context.build_type && `${context.build_type} build`].filter(Boolean).join(", ")],
    ["on", context.machine], ["at", provenance.when], ["from", (provenance.sources || []).join(", ")],
    ["profile", provenance.profile], ["operations", context.ops_files.join(", ")], ["power", context.power_file],
    ["policy", context.policy],
    ["clock", [isKnown(offset) && `operation times moved by ${integer(offset)} µs`, context.clock_reason].filter(Boolean).join(": ")],
    ["schema", [report.schema, report.account.schema].filter(Boolean).join(", ")],
  ];
  for (const [term, value] of facts) if (value) $("provenance").append(el("dt", {}, term), el("dd", {}, value));
}

function show() {
  const report = JSON.parse($("beryl-data").textContent);
  const account = report.account;
  account.context = {ops_files: [], ...account.context};
  account.notes = account.notes || [];
  for (const key of ["closure", "operations", "summary"]) account[key] ||= [];
  report.timeline = {channels: [], steps: [], activity: {}, ...report.timeline};
  account.closure.forEach((books) => deviceColour(books.device));
  document.querySelector("main").hidden = false;
  showHeader(report);
  showClosure(account.closure, account.context.energy_source || "");
  showNotes(notesOfRun(account));
  showTimeline(report.timeline);
  showAlignment(account.alignment);
  showTree(account.tree, account.closure.length ? sum(account.closure.map((books) => books.total_j)) : null);
  showOperations(account);
  showImport(account.import || {});
  showProvenance(report);
}

try {
  show();
} catch (error) {
  $("failure").hidden = false;
  $("failure").textContent = `This report cannot be shown: ${error.message}`;
  throw error;
}
