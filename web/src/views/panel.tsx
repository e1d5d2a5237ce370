// The panel of a tree: its tools, one of its views, and what is known of the selected part.
import type {ComponentChildren} from "preact";
import {useEffect, useMemo, useState} from "preact/hooks";
import {levels, type Level} from "../api/types";
import {Choice, CopyButton, Menu, Select, useSize} from "../parts/controls";
import {kinds, kindVariable} from "../parts/colours";
import {integer, plural} from "../parts/figures";
import {filtersOf, joinFilters, opennessOf} from "../state/look";
import {state, update} from "../state/url";
import {canFill, columnOf, complete, figure, labelOf} from "../tree/columns";
import {coloursOf, segmentsOf, type Colour} from "../tree/segments";
import {phasesOf, shapeTree, type FilterMode} from "../tree/shape";
import {nodeAt, pathOf, shownOf, type Tree} from "../tree/tree";
import {factsOf, kindText} from "./card";
import {Graph} from "./graph";
import {Icicle} from "./icicle";
import type {Differs, Look} from "./look";
import {Operations} from "./operations";
import {Treemap} from "./treemap";
import {TreeGrid} from "./treegrid";

export const viewNames: [string, string][] = [["tree", "Tree"], ["icicle", "Icicle"], ["operations", "Operations"], ["treemap", "Treemap"], ["graph", "Graph"]];
const modes: [string, string][] = [["show", "show"], ["hide", "hide"], ["focus", "focus"]];

function FilterBox({matched}: {matched: number}) {
  const [mode, setMode] = useState<FilterMode>("show");
  const filters = filtersOf(state.value);
  const set = (next: typeof filters, how: "step" | "flow" = "step") => update({filter: joinFilters(next), open: ""}, how);
  // What is being typed counts at once; Enter makes it stay.
  const [typed, setTyped] = useState("");
  const kept = typed && filters.length && filters.at(-1)!.pattern === typed ? filters.slice(0, -1) : filters;
  return (
    <div class="filters" role="search" aria-label="Filter the parts">
      <Select label="What the filter does" hideLabel value={mode} options={modes} onChange={(value) => {
        setMode(value as FilterMode);
        if (typed) set([...kept, {mode: value as FilterMode, pattern: typed}]);
      }} />
      <input type="search" id="filter" placeholder="name, type or layer.*" aria-label="Filter by name" autocomplete="off" spellcheck={false} value={typed}
        onInput={(event) => {
          const pattern = event.currentTarget.value;
          setTyped(pattern);
          set(pattern.trim() ? [...kept, {mode, pattern}] : kept, "flow");
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") setTyped("");
          else if (event.key === "Escape" && typed) {
            event.stopPropagation();
            set(kept, "flow");
            setTyped("");
          }
        }} />
      {filters.map((filter, i) => (
        <span class="chip" key={i}>
          {filter.mode} <b class="name">{filter.pattern.slice(0, 60)}</b>
          <button type="button" aria-label={`Remove the filter ${filter.mode} ${filter.pattern.slice(0, 60)}`} onClick={() => {
            if (filter.pattern === typed) setTyped("");
            set(filters.filter((_, at) => at !== i));
          }}>×</button>
        </span>
      ))}
      {matched >= 0 && <span class="dim" role="status">{matched ? plural(matched, "part matches", "parts match") : "nothing matches"}</span>}
    </div>
  );
}

function Details({look}: {look: Look}) {
  const {tree} = look;
  const node = Math.max(0, look.selected);
  if (!tree.size) return null;
  const path = node > 0 ? pathOf(tree, node) : tree.names[0];
  const facts = factsOf(tree, node);
  const parts = look.segments.filter((segment) => segment.values[node] > 0);
  return (
    <div class="details" role="group" aria-label="The selected part">
      <div class="line">
        <code class="name" tabIndex={path.length > 400 ? 0 : undefined}>{path}</code>
        {node > 0 && <button type="button" class="button small" onClick={() => update({filter: joinFilters([...filtersOf(state.value), {mode: "focus", pattern: tree.names[node]}])})}>Focus</button>}
        <CopyButton text={() => path} />
      </div>
      <p class="legend"><span class="dim">{kindText(tree, node)}</span>{parts.length > 1 && parts.map((part) => (
        <span key={part.label}><i class="swatch" style={{background: `var(${part.variable})`}} />{part.label} {figure(part.values[node], look.column)}</span>
      ))}</p>
      <p class="facts-line">{facts.map(([name, value, title], i) => <span key={i} title={title}>{name} <b>{value}</b></span>)}</p>
    </div>
  );
}

const colourNames: Record<Colour, string> = {kind: "kind of work", phase: "phase", device: "device", share: "share"};

function Legend({look}: {look: Look}) {
  if (look.differs || look.colour === "share" || state.value.view === "graph" || state.value.view === "operations") return null;
  const entries = look.colour === "kind" && state.value.view !== "tree"
    ? kinds.map((kind) => ({label: kind, variable: kindVariable(kind)})).filter(({label}) => label === "module" || look.segments.some((segment) => segment.label === label))
    : look.segments;
  return <div class="legend" aria-label="Colours">{entries.map(({label, variable}) => <span key={label}><i class="swatch" style={{background: `var(${variable})`}} />{label}</span>)}</div>;
}

function ColumnMenu({tree}: {tree: Tree}) {
  const chosen = state.value.columns ? state.value.columns.split(",") : [];
  return (
    <Menu label="Columns of the table" text="Columns" align="left">
      {() => (
        <>
          <p class="dim">Without a choice, as many as fit.</p>
          {tree.columns.map((column) => (
            <label class="check" key={column.name}>
              <input type="checkbox" checked={chosen.includes(column.name)} onChange={(event) =>
                update({columns: (event.currentTarget.checked ? [...chosen, column.name] : chosen.filter((name) => name !== column.name)).join(",")})} />
              {labelOf(column)} <span class="dim">{column.origin}</span>
            </label>
          ))}
          {chosen.length > 0 && <button type="button" class="button small" onClick={() => update({columns: ""})}>As many as fit</button>}
        </>
      )}
    </Menu>
  );
}

export function TreePanel({whole, title, tools, isOld, note, differs, usual}: {
  whole: Tree; title: string; tools?: ComponentChildren; isOld?: boolean; note?: ComponentChildren; differs?: Differs; usual?: string[];
}) {
  const now = state.value;
  const [place] = useSize<HTMLDivElement>();
  const phases = useMemo(() => phasesOf(whole), [whole]);
  const completed = useMemo(() => complete(whole), [whole]);
  const {tree, matched} = useMemo(() => shapeTree(whole, {
    phase: phases.includes(now.phase) ? now.phase : "", level: levels.includes(now.level as Level) ? now.level as Level : "", filters: filtersOf(now),
  }), [whole, phases, now.phase, now.level, now.filter]);
  const fills = tree.columns.filter((column) => canFill(column) && column.values.some(Number.isFinite));
  const rates = completed.columns.filter((column) => !canFill(column) && column.quantity !== "share");
  const needsFill = now.view !== "tree";
  const wanted = columnOf(tree, now.column);
  const column = wanted && (canFill(wanted) || !needsFill) ? wanted : fills[0] ?? tree.columns[0];
  const available = useMemo(() => coloursOf(tree), [tree]);
  const colour = (available.includes(now.colour as Colour) ? now.colour : "kind") as Colour;
  const segments = useMemo(() => (canFill(column) ? segmentsOf(tree, column, colour) : []), [tree, column, colour]);
  const selectedInWhole = useMemo(() => nodeAt(whole, now.select), [whole, now.select]);
  const selected = useMemo(() => (selectedInWhole >= 0 ? shownOf(tree, whole, selectedInWhole) : 0), [tree, whole, selectedInWhole]);
  const zoomed = useMemo(() => {
    const found = now.zoom ? nodeAt(whole, now.zoom) : 0;
    return found > 0 ? shownOf(tree, whole, found) : 0;
  }, [tree, whole, now.zoom]);
  const pathIn = (node: number) => (tree.source[node] > 0 ? pathOf(whole, tree.source[node]) : "");
  const look: Look = {
    whole, tree, column, segments, colour, selected, openness: opennessOf(now.open), isHeavyFirst: now.order !== "model",
    columns: now.columns ? now.columns.split(",") : [], differs, usual,
    onSelect: (node, how = "step") => update({select: pathIn(node)}, how),
    onOpen: (text) => update({open: text}),
  };
  const onZoom = (node: number) => update({zoom: pathIn(node), select: pathIn(node)});
  // What is folded away and zoomed to is of one tree: another one starts anew.
  useEffect(() => {
    if (now.select && selectedInWhole < 0 && !now.select.startsWith("op:")) update({select: "", zoom: ""}, "flow");
  }, [whole]);
  const hidden = whole.size - tree.size;
  return (
    <section class={`panel-of-tree ${isOld ? "old" : ""}`} aria-labelledby="tree-h" aria-busy={isOld} ref={place}>
      <div class="line">
        <h2 id="tree-h">{title}</h2>
        <Choice label="View" hideLabel value={now.view} options={viewNames} onChange={(view) => update({view})} />
        {tools}
      </div>
      <div class="line tools">
        <Select label="of" hideLabel value={column?.name ?? ""} onChange={(name) => update({column: name})}
          options={[...fills, ...(needsFill ? [] : rates)].map((one) => [one.name, labelOf(one)])} />
        <Select label="Level" hideLabel value={now.level} onChange={(level) => update({level})}
          options={[["", "all levels"], ["model", "model"], ["module", "modules"], ["ml", "layers (ml)"], ["math", "operations (math)"], ["kernel", "kernels"]]} />
        {phases.length > 1 && <Select label="Phase" hideLabel value={phases.includes(now.phase) ? now.phase : ""} onChange={(phase) => update({phase, open: "", zoom: ""})}
          options={[["", "all phases"], ...phases.map((phase) => [phase, phase] as [string, string])]} />}
        <Select label="Order" hideLabel value={now.order} onChange={(order) => update({order})} options={[["heavy", "heaviest first"], ["model", "order of the model"]]} />
        {!differs && <Select label="Colours" hideLabel value={colour} onChange={(next) => update({colour: next})} options={available.map((one) => [one, `by ${colourNames[one]}`])} />}
        {now.view === "tree" && <ColumnMenu tree={tree} />}
        {(now.view === "tree" || now.view === "operations") && (
          <Menu label="Open and close rows" text="Rows" align="left">{(close) => (
            <>{([["", "Open the heaviest path"], ["all", "Open all"], ["none", "Close all"]] as const).map(([base, text]) => (
              <button type="button" key={base} onClick={() => {
                update({open: base});
                close();
              }}>{text}</button>
            ))}</>
          )}</Menu>
        )}
        <FilterBox matched={matched} />
      </div>
      <div class="line under-tools">
        {note}
        {hidden > 0 && <span class="dim">{integer(tree.size)} of {plural(whole.size, "part")} shown</span>}
        <Legend look={look} />
      </div>
      {!column || tree.size === 0 ? <p class="empty">There is nothing to show of this.</p>
        : now.view === "icicle" ? <Icicle look={look} zoom={zoomed} onZoom={onZoom} />
          : now.view === "treemap" ? <Treemap look={look} zoom={zoomed} onZoom={onZoom} />
            : now.view === "graph" ? <Graph look={look} />
              : now.view === "operations" ? <Operations look={look} />
                : <TreeGrid look={look} label={title} />}
      {now.view !== "operations" && <Details look={look} />}
    </section>
  );
}
