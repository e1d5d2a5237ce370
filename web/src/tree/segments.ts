// What a bar is divided into, and what a rectangle is coloured by: kinds of work, phases or devices.
import {kindOf, kinds, kindVariable, phaseVariable} from "../parts/colours";
import {selfOf, type Column, type Tree} from "./tree";

export interface Segment {
  label: string;
  variable: string; // of the style
  values: Float64Array;
}

export type Colour = "kind" | "phase" | "device" | "share";

export const coloursOf = (tree: Tree): Colour[] => {
  const parts = [...tree.parts.keys()];
  const hasPhases = parts.some((part) => part.startsWith("phases/")) || tree.runPhase.some((phase) => phase && phase !== "all" && phase !== "forward");
  const hasDevices = parts.filter((part) => part.startsWith("devices/")).length > 1;
  return ["kind", ...(hasPhases ? ["phase" as const] : []), ...(hasDevices ? ["device" as const] : []), "share"];
};

function accumulate(tree: Tree, column: Column, groupOf: (node: number) => string, order: readonly string[], variableOf: (group: string) => string): Segment[] {
  const self = selfOf(tree, column.values);
  const groups = new Map<string, Float64Array>();
  for (let node = tree.size - 1; node >= 0; --node) {
    const group = groupOf(node);
    let values = groups.get(group);
    if (!values) groups.set(group, (values = new Float64Array(tree.size)));
    if (self[node] > 0) values[node] += self[node];
  }
  for (const values of groups.values()) {
    for (let node = tree.size - 1; node > 0; --node) values[tree.parent[node]] += values[node];
  }
  return [...groups].filter(([, values]) => values[0] > 0)
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([label, values]) => ({label, variable: variableOf(label), values}));
}

function ofParts(tree: Tree, group: string, variableOf: (part: string, at: number) => string): Segment[] {
  return [...tree.parts].filter(([part]) => part.startsWith(`${group}/`)).map(([part, values], at) => {
    const label = part.slice(group.length + 1);
    return {label, variable: variableOf(label, at), values};
  }).filter(({values}) => values.some((value) => value > 0));
}

const phaseOrder = ["prefill", "decode", "forward", "backward", "optimizer"];

export function segmentsOf(tree: Tree, column: Column, colour: string): Segment[] {
  if (colour === "share") return [];
  if (colour === "phase" || colour === "device") {
    const measured = column.quantity === "energy"
      ? ofParts(tree, colour === "phase" ? "phases" : "devices", (label, at) => (colour === "phase" ? phaseVariable(label) : `--device${at % 6}`))
      : [];
    if (measured.length) {
      return measured.sort((a, b) => phaseOrder.indexOf(a.label) - phaseOrder.indexOf(b.label));
    }
    if (colour === "phase") return accumulate(tree, column, (node) => tree.runPhase[node] || "other", phaseOrder, phaseVariable);
  }
  return accumulate(tree, column, (node) => kindOf(tree, node), kinds, (kind) => kindVariable(kind as (typeof kinds)[number]));
}

// The colour of a node as a whole: its kind, or the largest of its segments.
export function variableOf(tree: Tree, segments: Segment[], colour: string, node: number): string {
  if (colour === "kind") return kindVariable(kindOf(tree, node));
  let best: Segment | null = null;
  for (const segment of segments) if (segment.values[node] > (best?.values[node] ?? 0)) best = segment;
  return best?.variable ?? "--other";
}
