// What every view of the tree is given.
import type {Colour, Segment} from "../tree/segments";
import type {Column, Tree} from "../tree/tree";
import type {Openness} from "../state/look";

// Of a comparison: what changed, by node of the whole tree.
export interface Differs {
  change: Float64Array;
  most: number; // the largest, without its sign
  tint: (node: number) => string; // a variable of the style
  note: (node: number) => string;
}

export interface Look {
  whole: Tree; // with nothing cut away
  tree: Tree; // what is shown of it
  column: Column; // of lengths and areas
  segments: Segment[];
  colour: Colour;
  selected: number; // of `tree`; -1: nothing that is shown
  openness: Openness;
  isHeavyFirst: boolean;
  differs?: Differs;
  usual?: string[]; // columns of the table unless others are chosen
  columns: string[]; // of the table that were chosen; empty: those that fit
  onSelect: (node: number, how?: "step" | "flow") => void; // of `tree`
  onOpen: (text: string) => void;
}

// The children in the order that is asked for: what is not known stands last.
export function ordered(tree: Tree, node: number, values: Float64Array, isHeavyFirst: boolean): number[] {
  const children: number[] = [];
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) children.push(child);
  if (isHeavyFirst) {
    const weight = (child: number) => (Number.isFinite(values[child]) ? values[child] : -Infinity);
    children.sort((a, b) => weight(b) - weight(a) || a - b);
  }
  return children;
}
