// The tree by operation: every name once, with the sum of what it takes itself wherever it stands; below each name, who
// calls it. And one name as a sandwich: all that is above it, and all that is inside it.
import {complete} from "./columns";
import {addsUp, childrenOf, closeTree, emptyTree, selfOf, type Column, type Tree} from "./tree";

// What makes two nodes the same operation.
export const operationOf = (tree: Tree, node: number): string => tree.types[node] || tree.names[node];

interface Group {
  name: string;
  level: number;
  source: number; // the only node, or -1
  count: number;
  sums: number[];
  below: Map<string, Group>;
}

const makeGroup = (name: string, level: number, columns: number): Group =>
  ({name, level, source: -2, count: 0, sums: new Array(columns).fill(0), below: new Map()});

function add(group: Group, tree: Tree, node: number, values: Float64Array[], count: number) {
  values.forEach((column, i) => (group.sums[i] += column[node]));
  group.count += count;
  group.source = group.source === -2 || group.source === tree.source[node] ? tree.source[node] : -1;
}

function childOf(group: Group, tree: Tree, node: number, columns: number): Group {
  const name = operationOf(tree, node);
  let child = group.below.get(name);
  if (!child) group.below.set(name, (child = makeGroup(name, tree.level[node], columns)));
  return child;
}

function toTree(root: Group, columns: Column[]): Tree {
  const all: {group: Group; parent: number; depth: number}[] = [];
  const visit = (group: Group, parent: number, depth: number) => {
    const at = all.push({group, parent, depth}) - 1;
    for (const child of group.below.values()) visit(child, at, depth + 1);
  };
  visit(root, -1, 0);
  const tree: Tree = {...emptyTree(all.length), columns: [], parts: new Map()};
  all.forEach(({group, parent, depth}, at) => {
    tree.names[at] = group.name;
    tree.level[at] = group.level;
    tree.parent[at] = parent;
    tree.depth[at] = depth;
    tree.source[at] = group.source < 0 ? -1 : group.source;
  });
  closeTree(tree);
  const none = {low: undefined, high: undefined, deviation: undefined, marked: undefined};
  tree.columns = columns.map((column, i) => ({...column, ...none, values: Float64Array.from(all, ({group}) => group.sums[i])}));
  tree.columns.push({name: "count", key: "count", label: "count", quantity: "count", unit: "", origin: "described", by: "",
    values: Float64Array.from(all, ({group}) => group.count)});
  return complete(tree);
}

const sumColumns = (tree: Tree): Column[] => tree.columns.filter(({quantity, name}) => addsUp(quantity) && name !== "count");
// How often a node stands for, itself and where it was folded.
function timesOf(tree: Tree): Float64Array {
  const times = new Float64Array(tree.size);
  for (let node = 0; node < tree.size; ++node) {
    times[node] = (tree.parent[node] < 0 ? 1 : times[tree.parent[node]]) * tree.layers[node];
  }
  return times;
}

export function byOperation(tree: Tree, title = "all operations"): Tree {
  const columns = sumColumns(tree);
  const selves = columns.map((column) => selfOf(tree, column.values));
  const times = timesOf(tree);
  const root = makeGroup(title, 0, columns.length);
  for (let node = 0; node < tree.size; ++node) {
    // Who takes nothing itself is no operation of its own.
    if (!selves.some((values) => values[node] > 0)) continue;
    add(root, tree, node, selves, times[node]);
    let group = root;
    for (let at = node; at >= 0; at = tree.parent[at]) {
      group = childOf(group, tree, at, columns.length);
      add(group, tree, node, selves, times[node]);
    }
  }
  root.source = -1;
  return toTree(root, columns);
}

export interface Sandwich {
  name: string;
  above: Tree; // the chains of callers, of all its nodes
  inside: Tree; // its subtrees, merged
}

// Nodes of a name inside another of the same name are counted once, with the outer one.
export function sandwich(tree: Tree, name: string): Sandwich | null {
  const columns = sumColumns(tree);
  const totals = columns.map((column) => column.values);
  const times = timesOf(tree);
  const above = makeGroup(name, 0, columns.length);
  const inside = makeGroup(name, 0, columns.length);
  const merge = (group: Group, node: number) => {
    add(group, tree, node, totals, times[node]);
    for (const child of childrenOf(tree, node)) merge(childOf(group, tree, child, columns.length), child);
  };
  let any = false;
  for (let node = 0; node < tree.size; ++node) {
    if (operationOf(tree, node) !== name) continue;
    any = true;
    merge(inside, node);
    add(above, tree, node, totals, times[node]);
    let group = above;
    for (let at = tree.parent[node]; at >= 0; at = tree.parent[at]) {
      group = childOf(group, tree, at, columns.length);
      add(group, tree, node, totals, times[node]);
    }
    node = tree.end[node] - 1;
  }
  if (!any) return null;
  return {name, above: toTree(above, columns), inside: toTree(inside, columns)};
}
