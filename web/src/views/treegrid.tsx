// The tree as a table, with only the rows in sight in the document.
import type {TargetedKeyboardEvent} from "preact";
import {useEffect, useId, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {useSize} from "../parts/controls";
import {isKnown, percent, plural, range} from "../parts/figures";
import {canFill, cellFigure, columnOf, figure, labelOf} from "../tree/columns";
import {hasChildren, type Column, type Tree} from "../tree/tree";
import {openNodes, toggled} from "../state/look";
import {ordered, type Look} from "./look";

interface Row {
  node: number;
  place: number;
  among: number;
}

function rowsOf(look: Look, open: Uint8Array): Row[] {
  const rows: Row[] = [];
  const {tree, column, isHeavyFirst} = look;
  const visit = (node: number, place: number, among: number) => {
    rows.push({node, place, among});
    if (!open[node]) return;
    const children = ordered(tree, node, column.values, isHeavyFirst);
    for (let i = 0; i < children.length; ++i) visit(children[i], i + 1, children.length);
  };
  if (tree.size) visit(0, 1, 1);
  return rows;
}

const headPx = 26;
const usual = ["energy", "predicted", "ratio", "share", "time", "power", "flops", "flops_per_j", "bytes"];

// The chosen ones, or as many of the usual ones as there is room for. The column of the bars is always there.
function shownColumns(look: Look, width: number): Column[] {
  const {tree, column} = look;
  if (look.columns.length) return look.columns.map((name) => columnOf(tree, name)).filter((found): found is Column => !!found);
  const most = width < 480 ? 1 : width < 560 ? 2 : width < 760 ? 3 : Math.max(3, Math.floor((width - 430) / 92));
  const names = look.usual ?? [column.name, ...usual.filter((name) => name !== column.name)];
  return names.map((name) => columnOf(tree, name)).filter((found): found is Column => !!found).slice(0, most);
}

export const layersText = (tree: Tree, node: number): string =>
  (tree.layers[node] > 1 ? `${plural(tree.layers[node], "layer")} folded${tree.ranges[node] ? `: ${tree.ranges[node]}` : ""}` : "");

// To the left what became less, to the right what became more.
function ChangeBar({look, node}: {look: Look; node: number}) {
  const {change, most, tint, note} = look.differs!;
  const id = look.tree.source[node];
  const share = most > 0 && Number.isFinite(change[id]) ? (50 * Math.min(most, Math.abs(change[id]))) / most : 0;
  return (
    <span class="bar change" title={note(id)}>
      {Number.isFinite(change[id])
        ? <i style={{left: change[id] < 0 ? `${50 - share}%` : "50%", width: `${share}%`, background: `var(${tint(id)})`}} />
        : <span class="only" style={{background: "var(--only)"}}>{note(id)}</span>}
    </span>
  );
}

function Bar({look, node, whole}: {look: Look; node: number; whole: number}) {
  if (look.differs) return <ChangeBar look={look} node={node} />;
  const {column, segments} = look;
  const value = column.values[node];
  if (!isKnown(value)) return <span class="bar unknown" title="unknown">?</span>;
  const share = whole > 0 ? (100 * Math.max(0, value)) / whole : 0;
  const [low, high] = [column.low?.[node], column.high?.[node]];
  const whisker = isKnown(low) && isKnown(high) && whole > 0;
  const parts = segments.map((segment) => ({segment, value: segment.values[node]})).filter((part) => part.value > 0);
  return (
    <span class="bar" title={parts.map((part) => `${part.segment.label} ${figure(part.value, column)}`).join(", ")}>
      <span class="fill" style={{width: `${Math.min(100, share)}%`}}>
        {parts.length > 0
          ? parts.map(({segment, value: part}) => <i key={segment.label} style={{flexGrow: part / value, background: `var(${segment.variable})`}} />)
          : <i style={{flexGrow: 1, background: "var(--accent)"}} />}
      </span>
      {whisker && <span class="whisker" style={{left: `${Math.min(100, (100 * low) / whole)}%`, width: `${Math.max(0, Math.min(100, (100 * high) / whole) - Math.min(100, (100 * low) / whole))}%`}} />}
    </span>
  );
}

function Cell({column, node}: {column: Column; node: number}) {
  const value = column.values[node];
  const deviation = column.deviation?.[node];
  const title = [
    column.low && column.high && isKnown(column.low[node]) ? `between ${range(column.low[node], column.high[node], column.unit)}` : "",
    isKnown(deviation) ? `steps vary by ± ${figure(deviation, column)}` : "",
    column.marked?.[node] ? column.because : "",
    column.by ? `${column.origin} by ${column.by}` : column.origin,
  ].filter(Boolean).join("; ");
  return (
    <span role="gridcell" class={`number ${column.quantity === "energy" ? "" : "dim"}`} title={title}>
      {isKnown(value) ? cellFigure(value, column) : <span class="unknown">?</span>}{column.marked?.[node] ? "!" : ""}
    </span>
  );
}

export function TreeGrid({look, label, height = "fit"}: {look: Look; label: string; height?: "fit" | "half"}) {
  const {tree, column, openness, selected} = look;
  const id = useId();
  const [scroller, size] = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const open = useMemo(() => openNodes(tree, openness), [tree, openness.base, [...openness.switched].join()]);
  const rows = useMemo(() => rowsOf(look, open), [tree, column, open, look.isHeavyFirst]);
  const isNarrow = size.width > 0 && size.width < 560;
  const rowHeight = isNarrow ? 38 : 28;
  const columns = useMemo(() => shownColumns(look, size.width), [tree, column, look.columns.join(), size.width]);
  const whole = tree.size ? column.values[0] : 0;
  const shares = canFill(column);
  const most = shares ? whole : column.values.reduce((a, b) => (b > a ? b : a), 0);
  const current = Math.max(0, rows.findIndex((row) => row.node === selected));
  const first = Math.max(0, Math.floor(top / rowHeight) - 8);
  const last = Math.min(rows.length, Math.ceil((top + (size.height || 600)) / rowHeight) + 8);

  const previous = useRef(-2);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || previous.current === selected) return;
    const isFirst = previous.current === -2;
    previous.current = selected;
    if (isFirst && selected <= 0) return;
    // The head covers the first rows in sight.
    const [above, below] = [current * rowHeight, (current + 1) * rowHeight + headPx];
    if (above < element.scrollTop) element.scrollTop = above;
    else if (below > element.scrollTop + element.clientHeight) element.scrollTop = below - element.clientHeight;
  }, [selected, current]);
  useEffect(() => {
    const element = scroller.current;
    if (element && element.scrollTop > rows.length * rowHeight) element.scrollTop = 0;
  }, [rows.length]);

  const go = (place: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, place))];
    if (row) look.onSelect(row.node, "flow");
  };
  const setOpen = (node: number, on: boolean) => {
    if (!hasChildren(tree, node) || (open[node] === 1) === on) return;
    look.onOpen(toggled(openness, tree, node));
  };
  const key = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !rows.length) return;
    const {node} = rows[current];
    const page = Math.max(1, Math.floor(size.height / rowHeight) - 1);
    switch (event.key) {
      case "ArrowDown": go(current + 1); break;
      case "ArrowUp": go(current - 1); break;
      case "PageDown": go(current + page); break;
      case "PageUp": go(current - page); break;
      case "Home": go(0); break;
      case "End": go(rows.length - 1); break;
      case "ArrowRight":
        if (hasChildren(tree, node) && !open[node]) setOpen(node, true);
        else if (hasChildren(tree, node)) go(current + 1);
        break;
      case "ArrowLeft":
        if (open[node] && hasChildren(tree, node)) setOpen(node, false);
        else if (tree.parent[node] >= 0) look.onSelect(tree.parent[node], "flow");
        break;
      case "Enter": case " ": setOpen(node, !open[node]); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const template = isNarrow
    ? `minmax(0, 1fr) ${columns.map(() => "74px").join(" ")}`
    : `minmax(170px, 1fr) minmax(90px, ${columns.length > 4 ? 18 : 26}%) ${columns.map(() => "78px").join(" ")}`;
  return (
    <div ref={scroller} class={`treegrid ${isNarrow ? "narrow" : ""} ${height}`} role="treegrid" aria-label={label} aria-rowcount={rows.length + 1}
      aria-colcount={columns.length + (isNarrow ? 1 : 2)} tabIndex={0} aria-activedescendant={rows.length ? `${id}-${rows[current].node}` : undefined}
      onKeyDown={key} onScroll={(event) => setTop(event.currentTarget.scrollTop)} style={{"--columns": template, "--row": `${rowHeight}px`}}>
      <div role="rowgroup" class="head-group">
        <div role="row" class="grid-row head" aria-rowindex={1}>
          <span role="columnheader">part</span>
          {!isNarrow && <span role="columnheader" class="bar-head">{look.differs ? "less, or more" : `${labelOf(column)}${column.low ? ", with interval" : ""}`}</span>}
          {columns.map((shown) => <span role="columnheader" key={shown.name} class="number">{labelOf(shown)}</span>)}
        </div>
      </div>
      <div class="grid-body" role="rowgroup" style={{height: `${rows.length * rowHeight}px`}}>
          {rows.slice(first, last).map(({node, place, among}, i) => {
            const has = hasChildren(tree, node);
            const name = tree.names[node] || "(no name)";
            const at = first + i;
            return (
              <div key={node} id={`${id}-${node}`} role="row" class={`grid-row ${node === selected ? "selected" : ""}`}
                aria-level={tree.depth[node] + 1} aria-posinset={place} aria-setsize={among} aria-rowindex={at + 2}
                aria-selected={node === selected} aria-expanded={has ? open[node] === 1 : undefined}
                style={{top: `${at * rowHeight}px`, "--depth": tree.depth[node]}}
                onClick={(event) => {
                  const isArrow = !!(event.target as Element).closest(".arrow");
                  // A click on a part that is open but not selected only selects it: looking does not fold it away.
                  const onlySelects = !isArrow && open[node] === 1 && node !== selected;
                  if (node !== selected) look.onSelect(node);
                  if (!onlySelects) setOpen(node, !open[node]);
                }}>
                <span role="rowheader" class="title">
                  <span class={has ? `arrow ${open[node] ? "open" : ""}` : "arrow none"} />
                  <span class={`name ${tree.level[node] >= 3 ? "code" : ""}`} title={name}>{name}</span>
                  {tree.layers[node] > 1 && <span class="times" title={layersText(tree, node)}>×{tree.layers[node]}</span>}
                  {tree.types[node] && !name.startsWith(tree.types[node]) && <span class="type" title={tree.types[node]}>{tree.types[node]}</span>}
                </span>
                <span role={isNarrow ? "presentation" : "gridcell"} class="bar-cell" aria-label={isNarrow ? undefined : shares && whole > 0 && isKnown(column.values[node]) ? percent(column.values[node] / whole) : "bar"}>
                  <Bar look={look} node={node} whole={most} />
                </span>
                {columns.map((shown) => <Cell key={shown.name} column={shown} node={node} />)}
              </div>
            );
          })}
      </div>
    </div>
  );
}
