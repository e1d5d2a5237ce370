// ---- Tree

// The known parts of a node, phases in the order they run.
function parts(node, key) {
  const order = key === "phases" ? phaseNames : devices;
  return Object.entries(node[key] || {}).filter(([, joules]) => joules > 0)
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
}

// How well the run matches the model that it was given.
function showAlignment(alignment) {
  if (!alignment) return;
  const most = 5;
  const named = (names, what) => names.length ? [`${what}: ${names.slice(0, most).join(", ")}` +
    (names.length > most ? ` and ${integer(names.length - most)} more` : "")] : [];
  const worth = alignment.unmatched.filter(({energy_j}) => energy_j >= 0.001 * alignment.module_energy_j);
  const sentences = [
    `${alignment.model}: ${integer(alignment.matched_modules)} of ${integer(alignment.described_modules)} modules found, ` +
      `with ${percent(alignment.matched_energy_j, alignment.module_energy_j)} of the energy inside modules`,
    ...named(worth.map(({path, energy_j}) => `${path} (${si(energy_j, "J")})`), "not in the description"),
    ...named(alignment.not_found, "not in the run"),
    ...isKnown(alignment.passes) ? [`FLOP, their rates and "per pass" are those of one of ${+alignment.passes.toPrecision(4)} forward passes`] : [],
  ];
  $("alignment").hidden = false;
  $("alignment").textContent = `${sentences.join(". ")}.`;
}

const layersOf = ({layers, range}) => layers > 1 ? `${layers} layers folded${range ? `: ${range}` : ""}` : "";

function showTree(root, measured) {
  const firstShown = 25, moreShown = 100, mostRows = 1500;
  let shareOf = "whole", splitBy = "phases";
  // What matches the filter, what lies above that, and what the reader opened or closed meanwhile.
  let query = "", matches = new Set(), above = new Set(), openedInFilter = new Map();
  const open = new Set(), limits = new Map();
  let rows = [], cache = new Map(), current = root;

  // Children are linked and sorted when first asked for: most of a large tree is never looked at.
  function childrenOf(node) {
    if (!node.isLinked) {
      node.isLinked = true;
      node.children = (node.children || []).sort((a, b) => (b.energy_j ?? -1) - (a.energy_j ?? -1));
      for (const child of node.children) {
        child.parent = node;
        child.depth = node.depth + 1;
      }
    }
    return node.children;
  }
  const colourOf = (key, name) => key === "phases" ? phaseColour(name) : deviceColour(name);
  const isOpen = (node) => query ? openedInFilter.get(node) ?? above.has(node) : open.has(node);
  const shownBelow = (node) => !query || openedInFilter.get(node) ? childrenOf(node)
    : childrenOf(node).filter((child) => matches.has(child) || above.has(child));

  function pathOf(node) {
    const names = [];
    for (; node.parent; node = node.parent) names.unshift(node.name);
    return names.length ? names.join("/") : node.name;
  }

  function collect(node, place, size) {
    rows.push({node, place, size});
    if (!isOpen(node)) return;
    const children = shownBelow(node), limit = limits.get(node) || firstShown;
    for (let i = 0; i < Math.min(limit, children.length) && rows.length < mostRows; ++i) {
      collect(children[i], i + 1, children.length);
    }
    if (children.length > limit && rows.length < mostRows) {
      const rest = children.slice(limit).map((child) => child.energy_j);
      rows.push({node: {isMore: true, parent: node, depth: node.depth + 1, count: rest.length,
        energy_j: rest.some(isKnown) ? sum(rest) : null}});
    }
  }

  function nameCell(node) {
    const name = node.name || "(no name)";
    const found = query ? name.toLowerCase().indexOf(query) : -1;
    const cell = el("span", {class: "name", title: name});
    if (found < 0) {
      cell.append(name);
    } else {
      const end = found + query.length;
      cell.append(name.slice(0, found), el("mark", {}, name.slice(found, end)), name.slice(end));
    }
    return cell;
  }

  function makeRow({node, place, size}) {
    const whole = shareOf === "whole" || !node.parent ? root.energy_j : node.parent.energy_j;
    const share = percent(node.energy_j, whole);
    const position = {role: "treeitem", tabindex: -1, style: `--depth:${node.depth}`, "aria-level": node.depth + 1};
    if (node.isMore) {
      return el("div", {...position, class: "row"},
        span("title", span("arrow none"),
          span("name dim", `… ${integer(node.count)} more, show ${Math.min(node.count, moreShown)}`)),
        span("share none"), span("number dim", si(node.energy_j, "J")), span("number dim", share));
    }
    const hasChildren = childrenOf(node).length > 0;
    const pieces = parts(node, splitBy);
    const rest = (node.energy_j || 0) - sum(pieces.map(([, joules]) => joules));
    const fill = el("span", {style: `width:${node.energy_j > 0 && whole > 0 ? 100 * node.energy_j / whole : 0}%`},
      ...pieces.map(([name, joules]) => el("i", {style: `flex:${joules / node.energy_j} 0 0;--c:${colourOf(splitBy, name)}`})),
      rest > 1e-6 * node.energy_j ? el("i", {style: `flex:${rest / node.energy_j} 0 0;--c:var(--other)`}) : null);
    if (!(node.energy_j > 0)) fill.style.minWidth = 0;
    return el("div", {
      ...position, class: `row ${node.level}`, "aria-posinset": place, "aria-setsize": size, "aria-selected": "false",
      "aria-expanded": hasChildren ? String(isOpen(node)) : null,
      "aria-label": [node.name || "(no name)", layersOf(node),
        isKnown(node.energy_j) ? `${si(node.energy_j, "J")}, ${share}` : "energy unknown"].filter(Boolean).join(", "),
    },
    span("title", el("span", {class: hasChildren ? "arrow" : "arrow none"}), nameCell(node),
      node.layers > 1 ? el("span", {class: "times", title: layersOf(node)}, `×${node.layers}`) : null,
      node.type && !node.name.startsWith(node.type) ? span("type", node.type) : null),
    el("span", {class: isKnown(node.energy_j) ? "share" : "share none",
      title: pieces.map(([name, joules]) => `${name} ${si(joules, "J")}`).join(", ")}, fill),
    span("number", siNode(node.energy_j, "J")),
    span("number dim", share === "?" ? unknown() : share),
    span("number dim deviation", isKnown(node.deviation_j) ? `± ${si(node.deviation_j, "J")}` : ""));
  }

  const elementOf = (row) => {
    if (!cache.has(row.node)) {
      const element = makeRow(row);
      element.node = row.node;
      cache.set(row.node, element);
    }
    return cache.get(row.node);
  };

  function render() {
    const hadFocus = $("tree").contains(document.activeElement);
    rows = [];
    if (!query || matches.size) collect(root, 1, 1);
    // What was current may have been folded away: its nearest ancestor that is still shown takes over.
    const shown = new Set(rows.map((row) => row.node));
    while (current.parent && !shown.has(current)) current = current.parent;
    $("tree").replaceChildren(...rows.map(elementOf));
    select(current, hadFocus);
    const counted = query ? `${integer(matches.size)} ${matches.size === 1 ? "part matches" : "parts match"}.`
      : isKnown(root.energy_j) ? `The ${si(root.energy_j, "J")} attributed to operations, out of ${si(measured, "J")}.`
      : "The energy of no part is known: no meter covered it.";
    $("tree-lead").textContent = counted + (rows.length >= mostRows ? ` The first ${integer(mostRows)} rows are shown.` : "");
    legend($("tree-legend"), parts(root, splitBy).map(([name]) => [name, colourOf(splitBy, name)]));
  }

  function select(node, focus) {
    for (const old of $("tree").querySelectorAll('[tabindex="0"]')) {
      old.tabIndex = -1;
      old.setAttribute("aria-selected", "false");
    }
    current = node;
    const element = cache.get(node);
    if (element) {
      element.tabIndex = 0;
      element.setAttribute("aria-selected", "true");
      if (focus) element.focus();
    }
    if (!node.isMore) showDetails(node);
  }

  // Every other number that the node has, whatever it is: a column says what it is called and measured in.
  function figures(node) {
    const columns = (root.columns || []).filter(({key, of}) => !of && key !== "energy_j" && isKnown(node[key]));
    return columns.map(({key, label, quantity, unit, origin, by, mark_key, marked_because}) => {
      const value = node[key], isMarked = mark_key && node[mark_key];
      const text = quantity === "share" ? percent(value, 1) : quantity === "ratio" ? value.toPrecision(3) : si(value, unit);
      const title = (by ? `${origin} by ${by}` : origin) + (isMarked ? `; ${marked_because}` : "");
      return el("span", {title}, `${label || key}\u00a0`, el("b", {}, isMarked ? `${text}\u00a0!` : text));
    });
  }

  function showDetails(node) {
    const path = pathOf(node);
    const copy = el("button", {type: "button", class: "more", onclick: async () => {
      try {
        await navigator.clipboard.writeText(path);
        copy.textContent = "Copied";
      } catch {
        // Some browsers give a page from disk no clipboard: then the path is selected, ready for Ctrl+C.
        getSelection().selectAllChildren($("details").querySelector("code"));
        copy.textContent = "Selected";
      }
    }}, "Copy");
    const split = (key) => parts(node, key).map(([name, joules]) =>
      span("", swatch(colourOf(key, name)), `${name} ${si(joules, "J")}`,
        span("dim", `\u00a0(${percent(joules, node.energy_j)})`)));
    const kind = [node.level, node.type, layersOf(node)].filter(Boolean).join(", ");
    $("details").replaceChildren(
      el("div", {class: "path"}, el("code", {class: "name", tabindex: path.length > 400 ? 0 : null}, path), copy),
      el("div", {class: "legend"}, span("dim", kind),
        span("", "total\u00a0", el("b", {}, siNode(node.energy_j, "J"))),
        span("", "itself\u00a0", siNode(node.self_j, "J")),
        isKnown(node.deviation_j) ? span("", `steps vary by ± ${si(node.deviation_j, "J")}`) : null),
      el("div", {class: "legend"}, ...split("phases"), ...split("devices")),
      el("div", {class: "legend columns"}, ...figures(node)));
  }

  function setOpen(node, on) {
    if (query) openedInFilter.set(node, on);
    else on ? open.add(node) : open.delete(node);
    cache.delete(node);
    render();
  }

  function act(node) {
    if (node.isMore) {
      const index = rows.findIndex((row) => row.node === node);
      limits.set(node.parent, (limits.get(node.parent) || firstShown) + moreShown);
      current = node.parent;
      render();
      if (rows[index]) select(rows[index].node, true);
    } else if (childrenOf(node).length) {
      setOpen(node, !isOpen(node));
    }
  }

  $("tree").addEventListener("click", (event) => {
    const node = event.target.closest(".row")?.node;
    if (!node) return;
    // A click on a part that is open but not selected only selects it, so that looking does not fold it away.
    const onlySelect = !node.isMore && isOpen(node) && node !== current && !event.target.closest(".arrow");
    select(node, true);
    if (!onlySelect) act(node);
  });
  $("tree").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const index = rows.findIndex((row) => row.node === current);
    const go = (row) => row && select(row.node, true);
    const hasChildren = !current.isMore && childrenOf(current).length > 0;
    switch (event.key) {
      case "ArrowDown": go(rows[index + 1]); break;
      case "ArrowUp": go(rows[index - 1]); break;
      case "Home": go(rows[0]); break;
      case "End": go(rows.at(-1)); break;
      case "ArrowRight":
        if (hasChildren && !isOpen(current)) setOpen(current, true);
        else if (hasChildren) go(rows[index + 1]);
        break;
      case "ArrowLeft":
        if (hasChildren && isOpen(current)) setOpen(current, false);
        else if (current.parent) select(current.parent, true);
        break;
      case "Enter": case " ": act(current); break;
      default: return;
    }
    event.preventDefault();
  });

  // A part matches by its name or type, or by a path that ends in its name ("attention/self/q").
  function search(text) {
    query = text.trim().toLowerCase();
    matches = new Set();
    above = new Set();
    openedInFilter = new Map();
    if (!query) return;
    const visit = (node, before) => {
      const path = `${before}${node.name.toLowerCase()}`;
      let isFound = false;
      const below = node === root ? "" : `${path}/`.slice(-query.length);
      for (const child of childrenOf(node)) isFound = visit(child, below) || isFound;
      if (isFound) above.add(node);
      if (path.includes(query) || (node.type || "").toLowerCase() === query) matches.add(node);
      return isFound || matches.has(node);
    };
    visit(root, "");
  }
  let waiting = 0;
  $("filter").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      search($("filter").value);
      redraw();
    }, 120);
  });
  $("filter").addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && rows.length) {
      event.preventDefault();
      select(current, true);
    }
  });

  function redraw() {
    cache = new Map();
    render();
  }
  $("tree-tools").append(
    choice("share of", [["whole", "whole"], ["parent", "parent"]], (value) => { shareOf = value; redraw(); }),
    choice("split by", [["phases", "phase"], ["devices", "device"]], (value) => { splitBy = value; redraw(); }));

  // Opens the path that most of the energy takes, as long as it is worth following.
  root.depth = 0;
  for (let node = root; node && childrenOf(node).length && node.level !== "math"; node = childrenOf(node)[0]) {
    if (node !== root && !(node.energy_j > 0.1 * root.energy_j)) break;
    open.add(node);
  }
  render();
}

