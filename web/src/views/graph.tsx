// The tree as nodes and links. A click opens or closes a node; colours are shares of the whole.
import {hierarchy, tree as tidyTree, type HierarchyPointNode} from "d3-hierarchy";
import type {TargetedKeyboardEvent} from "preact";
import {useId, useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {shareStep, shareSteps} from "../parts/colours";
import {percent} from "../parts/figures";
import {figure} from "../tree/columns";
import {openNodes, toggled} from "../state/look";
import {hasChildren, type Tree} from "../tree/tree";
import {variableOf} from "../tree/segments";
import {Card} from "./card";
import {ordered, type Look} from "./look";

interface Part {
  node: number;
  children?: Part[];
}

const rowPx = 26;
const columnPx = 232;
const boxPx = 204;
// So many boxes are more than anybody can read, and than a browser draws at once.
const mostNodes = 2500;

function shownParts(look: Look, open: Uint8Array): {root: Part; count: number} {
  let count = 0;
  const partOf = (node: number): Part => {
    ++count;
    if (!open[node] || !hasChildren(look.tree, node) || count > mostNodes) return {node};
    return {node, children: ordered(look.tree, node, look.column.values, look.isHeavyFirst).map(partOf)};
  };
  return {root: partOf(0), count};
}

function nameOf(tree: Tree, node: number): string {
  return `${(tree.names[node] || "(no name)").slice(0, 120)}${tree.layers[node] > 1 ? ` ×${tree.layers[node]}` : ""}`;
}

export function Graph({look}: {look: Look}) {
  const {tree, column, openness, selected} = look;
  const id = useId();
  const open = useMemo(() => openNodes(tree, openness), [tree, openness.base, [...openness.switched].join()]);
  const {root, count} = useMemo(() => shownParts(look, open), [tree, column, open, look.isHeavyFirst]);
  const laid = useMemo(() => tidyTree<Part>().nodeSize([rowPx, columnPx]).separation(() => 1)(hierarchy(root)), [root]);
  const [hover, setHover] = useState<{node: number; x: number; y: number} | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const all = laid.descendants();
  const least = Math.min(...all.map((part) => part.x));
  const most = Math.max(...all.map((part) => part.x));
  const width = columnPx * (laid.height + 1) + 20;
  const height = most - least + rowPx + 16;
  const yOf = (part: HierarchyPointNode<Part>) => part.x - least + rowPx / 2 + 8;
  const whole = column.values[0];
  const shareOf = (node: number) => (whole > 0 ? column.values[node] / whole : NaN);
  const variableFor = (node: number) => (look.differs ? look.differs.tint(tree.source[node]) : look.colour === "share" || look.colour === "kind" ? `--share${shareStep(shareOf(node))}` : variableOf(tree, look.segments, look.colour, node));

  const current = all.find((part) => part.data.node === selected) ?? laid;
  const place = useRef(-1);
  useLayoutEffect(() => {
    if (place.current === current.data.node || !frame.current) return;
    const isFirst = place.current === -1;
    place.current = current.data.node;
    const box = frame.current;
    const [x, y] = [current.y, yOf(current)];
    if (isFirst) box.scrollTop = Math.max(0, yOf(laid) - box.clientHeight / 2);
    if (x < box.scrollLeft) box.scrollLeft = Math.max(0, x - 20);
    else if (x + boxPx > box.scrollLeft + box.clientWidth) box.scrollLeft = x + boxPx - box.clientWidth + 20;
    if (y - rowPx < box.scrollTop) box.scrollTop = Math.max(0, y - rowPx * 2);
    else if (y + rowPx > box.scrollTop + box.clientHeight) box.scrollTop = y + rowPx * 2 - box.clientHeight;
  });

  const toggle = (node: number) => hasChildren(tree, node) && look.onOpen(toggled(openness, tree, node));
  const go = (part: HierarchyPointNode<Part> | null | undefined) => part && look.onSelect(part.data.node, "flow");
  const key = (event: TargetedKeyboardEvent<SVGSVGElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = all.filter((part) => part.depth === current.depth).sort((a, b) => a.x - b.x);
    const at = row.indexOf(current);
    switch (event.key) {
      case "ArrowDown": go(row[at + 1]); break;
      case "ArrowUp": go(row[at - 1]); break;
      case "ArrowRight":
        if (!open[current.data.node]) toggle(current.data.node);
        else go(current.children?.[0]);
        break;
      case "ArrowLeft":
        if (open[current.data.node] && hasChildren(tree, current.data.node)) toggle(current.data.node);
        else go(current.parent);
        break;
      case "Home": go(laid); break;
      case "Enter": case " ": toggle(current.data.node); break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div class="line graph-tools">
        <button type="button" class="button small" onClick={() => look.onOpen("all")}>Show all</button>
        <button type="button" class="button small" onClick={() => look.onOpen("none")}>Collapse to the root</button>
        <button type="button" class="button small" onClick={() => look.onOpen("")}>Open the heaviest path</button>
        {count > mostNodes && <span class="dim" role="status">The first {mostNodes.toLocaleString("en")} nodes are drawn: choose a level or a filter.</span>}
        {!look.differs && <span class="legend" aria-label="Colours: share of the whole">
          <span>share of the whole</span>
          {shareSteps.concat(1).map((step, i) => (
            <span key={step} title={i < shareSteps.length ? `less than ${percent(step)}` : "more"}>
              <i class="swatch" style={{background: `var(--share${i})`}} />{i % 2 && i < shareSteps.length ? `${+(100 * step).toFixed(1)} %` : ""}
            </span>
          ))}
        </span>}
      </div>
      <div class="graph" ref={frame}>
        <svg width={width} height={height} role="tree" aria-label="The model as a tree of nodes" tabindex={0} onKeyDown={key}
          aria-activedescendant={`${id}-${current.data.node}`} onPointerLeave={() => setHover(null)}>
          <g class="links" aria-hidden="true">
            {all.filter((part) => part.parent).map((part) => {
              const [x0, y0, x1, y1] = [part.parent!.y + boxPx + 8, yOf(part.parent!), part.y + 8, yOf(part)];
              const middle = (x0 + x1) / 2;
              return <path key={part.data.node} d={`M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}`} />;
            })}
          </g>
          {all.map((part) => {
            const {node} = part.data;
            const share = shareOf(node);
            return (
              <g key={node} id={`${id}-${node}`} role="treeitem" class={`node ${node === selected ? "selected" : ""} s${shareStep(share)}`} aria-level={part.depth + 1}
                aria-selected={node === selected} aria-expanded={hasChildren(tree, node) ? open[node] === 1 : undefined}
                transform={`translate(${part.y + 8} ${yOf(part)})`}
                onPointerMove={(event) => setHover({node, x: event.clientX, y: event.clientY})}
                onClick={() => {
                  look.onSelect(node, "flow");
                  toggle(node);
                }}>
                <rect y={-rowPx / 2 + 2} width={boxPx} height={rowPx - 4} rx="4" style={{fill: "var(--card)"}} />
                <rect y={-rowPx / 2 + 2} width="8" height={rowPx - 4} rx="2" style={{fill: `var(${variableFor(node)})`}} />
                <svg x="15" y={-rowPx / 2} width={boxPx - (hasChildren(tree, node) ? 92 : 80)} height={rowPx}>
                  <text y={rowPx / 2} dy="0.34em">{nameOf(tree, node)}{" "}</text>
                </svg>
                <text x={boxPx - (hasChildren(tree, node) ? 18 : 7)} dy="0.34em" class="value">{figure(column.values[node], column)}</text>
                {hasChildren(tree, node) && <text x={boxPx - 12} dy="0.34em" class="mark" aria-hidden="true">{open[node] ? "−" : "+"}</text>}
              </g>
            );
          })}
        </svg>
      </div>
      {hover && <Card look={look} node={hover.node} x={hover.x} y={hover.y} />}
    </>
  );
}
