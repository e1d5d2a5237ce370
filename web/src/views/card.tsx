// Everything that is known of a node, beside the pointer.
import {createPortal} from "preact/compat";
import {useLayoutEffect, useRef, useState} from "preact/hooks";
import {isKnown, percent, range} from "../parts/figures";
import {figure, labelOf} from "../tree/columns";
import type {Tree} from "../tree/tree";
import {layersText} from "./treegrid";
import type {Look} from "./look";

const shapeText = (shapes: number[][] | undefined): string => (shapes ?? []).map((shape) => (shape.length ? shape.join("×") : "scalar")).join(", ");

// Name and value of each thing that is known.
export function factsOf(tree: Tree, node: number): [string, string, string?][] {
  const facts: [string, string, string?][] = [];
  for (const column of tree.columns) {
    const value = column.values[node];
    const [low, high, deviation] = [column.low?.[node], column.high?.[node], column.deviation?.[node]];
    const origin = column.by ? `${column.origin} by ${column.by}` : column.origin;
    facts.push([labelOf(column), isKnown(value) ? `${figure(value, column)}${column.marked?.[node] ? " !" : ""}` : "?",
      column.marked?.[node] ? `${origin}; ${column.because}` : origin]);
    if (isKnown(low) && isKnown(high)) facts.push(["between", range(low, high, column.unit)]);
    if (isKnown(deviation)) facts.push(["± per step", figure(deviation, column)]);
  }
  const json = tree.json[node];
  const [inputs, outputs] = [shapeText(json?.inputs), shapeText(json?.outputs)];
  if (inputs) facts.push(["inputs", inputs]);
  if (outputs) facts.push(["outputs", outputs]);
  if (json?.kind) facts.push(["kind", json.kind]);
  if (json?.beyond) facts.push(["note", "beyond what the profile was trained on"]);
  return facts;
}

export const kindText = (tree: Tree, node: number): string =>
  [["model", "module", "layer of a model", "operation", "kernel"][tree.level[node]], tree.types[node], tree.runPhase[node] === "all" ? "" : tree.runPhase[node],
    layersText(tree, node)].filter(Boolean).join(", ");

export function Card({look, node, x, y}: {look: Look; node: number; x: number; y: number}) {
  const {tree, column, segments} = look;
  const element = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({left: -9999, top: 0});
  useLayoutEffect(() => {
    const bounds = element.current!.getBoundingClientRect();
    const left = x + 16 + bounds.width > innerWidth ? Math.max(4, x - 16 - bounds.width) : x + 16;
    setPlace({left, top: Math.max(4, Math.min(innerHeight - bounds.height - 4, y + 14))});
  }, [x, y, node]);
  const parts = segments.filter((segment) => segment.values[node] > 0 && segment.values[node] < 0.999 * column.values[node]);
  return createPortal(
    <div ref={element} class="card" role="tooltip" style={{left: `${place.left}px`, top: `${place.top}px`}}>
      <b class="name">{(tree.names[node] || "(no name)").slice(0, 300)}</b>
      <p class="dim">{kindText(tree, node).slice(0, 300)}</p>
      <dl>{factsOf(tree, node).map(([name, value], i) => [<dt key={`${i}t`}>{name}</dt>, <dd key={`${i}d`}>{value}</dd>])}</dl>
      {parts.length > 0 && <ul>{parts.map((part) => (
        <li key={part.label}><i class="swatch" style={{background: `var(${part.variable})`}} />{part.label} {percent(part.values[node] / column.values[node])}</li>
      ))}</ul>}
    </div>, document.body);
}
