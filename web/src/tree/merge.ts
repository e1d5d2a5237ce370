// Several trees as one, matched by path, with a column for each and what changed from the first to the last.
import type {Origin} from "../api/types";
import {closeTree, copyNode, emptyTree, childrenOf, type Column, type Tree} from "./tree";

export interface Side {
  label: string;
  tree: Tree;
  origin: Origin;
}

export interface Merged {
  tree: Tree;
  change: Float64Array; // of joules, or of the share; NaN: on one side only
  isNoise: Uint8Array;
  only: Int8Array; // -1: on all sides, or on several; otherwise the only one
}

interface Place {
  ids: number[]; // of each side; -1: not there
  below: Map<string, Place>;
}

function placesOf(sides: Side[]): Place {
  const make = (): Place => ({ids: sides.map(() => -1), below: new Map()});
  const root = make();
  const add = (place: Place, side: number, node: number) => {
    place.ids[side] = node;
    const seen = new Map<string, number>();
    const {tree} = sides[side];
    for (const child of childrenOf(tree, node)) {
      const ordinal = (seen.get(tree.names[child]) ?? 0) + 1;
      seen.set(tree.names[child], ordinal);
      const key = `${tree.names[child]}\u0000${ordinal}`;
      let below = place.below.get(key);
      if (!below) place.below.set(key, (below = make()));
      add(below, side, child);
    }
  };
  sides.forEach((_, side) => add(root, side, 0));
  return root;
}

const energyOf = ({tree}: Side): Column | undefined => tree.columns.find(({name}) => name === "energy") ?? tree.columns.find(({quantity}) => quantity === "energy");

// What a difference has to exceed: for measured sides twice the deviation of the mean of their steps where that is known, and
// always this share of the larger one.
const leastChange = 0.01;

export function merge(sides: Side[], asShares: boolean): Merged {
  const root = placesOf(sides);
  const all: {place: Place; parent: number; depth: number}[] = [];
  const visit = (place: Place, parent: number, depth: number) => {
    const at = all.push({place, parent, depth}) - 1;
    for (const below of place.below.values()) visit(below, at, depth + 1);
  };
  visit(root, -1, 0);
  const tree: Tree = {...emptyTree(all.length), columns: [], parts: new Map()};
  all.forEach(({place, parent, depth}, at) => {
    const side = place.ids.findIndex((id) => id >= 0);
    copyNode(sides[side].tree, place.ids[side], tree, at);
    tree.parent[at] = parent;
    tree.depth[at] = depth;
    tree.source[at] = at;
    tree.json[at] = null;
  });
  closeTree(tree);
  const columns = sides.map(energyOf);
  const valueOf = (side: number, at: number): number => {
    const id = all[at].place.ids[side];
    return id < 0 || !columns[side] ? NaN : columns[side]!.values[id];
  };
  const totals = sides.map((_, side) => valueOf(side, 0));
  const scaled = (side: number, at: number) => (asShares ? valueOf(side, at) / totals[side] : valueOf(side, at));
  const take = (from: (at: number) => number) => Float64Array.from(all, (_, at) => from(at));
  const quantity = asShares ? "share" : "energy";
  const unit = asShares ? "" : "J";
  tree.columns = sides.map(({label, origin}, side) => ({
    name: `side${side}`, key: `side${side}`, label, quantity, unit, origin, by: "", values: take((at) => scaled(side, at)),
  }));
  const last = sides.length - 1;
  const change = take((at) => scaled(last, at) - scaled(0, at));
  tree.columns.unshift({name: "energy", key: "energy", label: "all sides", quantity: "energy", unit: "J", origin: sides[0].origin, by: "",
    values: take((at) => sides.reduce((sum, _, side) => sum + (valueOf(side, at) || 0), 0))});
  tree.columns.push({name: "difference", key: "difference", label: "difference", quantity: asShares ? "points" : "difference", unit, origin: sides[last].origin, by: "", values: change});
  if (!asShares) {
    tree.columns.push({name: "change", key: "change", label: "change", quantity: "off", unit: "", origin: sides[last].origin, by: "",
      values: take((at) => (scaled(0, at) > 0 ? scaled(last, at) / scaled(0, at) - 1 : NaN))});
  }
  const isNoise = Uint8Array.from(all, ({place}, at) => {
    if (!Number.isFinite(change[at])) return 0;
    const larger = Math.max(Math.abs(scaled(0, at)), Math.abs(scaled(last, at)));
    const deviations = [0, last].map((side) => (place.ids[side] < 0 ? NaN : columns[side]?.deviation?.[place.ids[side]] ?? NaN));
    const noise = deviations.every(Number.isFinite) && !asShares ? 2 * Math.hypot(...deviations) : 0;
    return Math.abs(change[at]) <= Math.max(noise, leastChange * larger) ? 1 : 0;
  });
  const only = Int8Array.from(all, ({place}) => {
    const there = place.ids.flatMap((id, side) => (id >= 0 ? [side] : []));
    return there.length === 1 ? there[0] : -1;
  });
  return {tree, change, isNoise, only};
}
