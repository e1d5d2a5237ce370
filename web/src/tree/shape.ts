// What a view shows of the whole tree: one phase, down to one level, and what the filters leave.
import {levels, type Level} from "../api/types";
import {complete} from "./columns";
import {addsUp, childrenOf, closeTree, copyNode, emptyTree, subtree, type Tree} from "./tree";

export type FilterMode = "show" | "hide" | "focus";
export interface Filter {
  mode: FilterMode;
  pattern: string;
}

export interface Shape {
  phase: string; // "": all of them
  level: Level | "";
  filters: Filter[];
}

// Of a described model that runs in phases, the nodes below the root are these.
const isPhase = (tree: Tree, node: number): boolean => tree.runPhase[0] === "all" && !!tree.runPhase[node];

// The phases that the tree can be asked for, in the order they run.
export function phasesOf(tree: Tree): string[] {
  const described: string[] = [];
  for (const child of childrenOf(tree, 0)) if (isPhase(tree, child)) described.push(tree.runPhase[child]);
  if (described.length) return described;
  const measured = [...tree.parts.keys()].filter((part) => part.startsWith("phases/")).map((part) => part.slice(7));
  const order = ["forward", "backward", "optimizer"];
  return measured.sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

function ofPhase(tree: Tree, phase: string): Tree {
  if (!phase) return tree;
  for (const child of childrenOf(tree, 0)) {
    if (isPhase(tree, child) && tree.runPhase[child] === phase) return subtree(tree, child, () => true);
  }
  const values = tree.parts.get(`phases/${phase}`);
  if (!values) return tree;
  // Only the energy is known by phase; what else is known is of all phases together.
  const columns = tree.columns.map((column) => (column.name === "energy"
    ? {...column, values, low: undefined, high: undefined, deviation: undefined}
    : {...column, values: new Float64Array(tree.size).fill(NaN), low: undefined, high: undefined, deviation: undefined}));
  const parts = new Map([...tree.parts].filter(([part]) => part.startsWith("devices/") === false));
  return subtree({...tree, columns, parts}, 0, (node) => !(values[node] === 0));
}

// A node is kept if its level is at most this one, or that of something below it is.
function upTo(tree: Tree, level: Level): Tree {
  const most = levels.indexOf(level);
  const keeps = new Uint8Array(tree.size);
  for (let node = tree.size - 1; node >= 0; --node) {
    if (tree.level[node] <= most) keeps[node] = 1;
    if (keeps[node] && tree.parent[node] >= 0) keeps[tree.parent[node]] = 1;
  }
  return subtree(tree, 0, (node) => keeps[node] === 1);
}

// "layer.*" as a pattern has stars; otherwise any part of a name, a type or a path matches, whatever its case.
export function matcher(pattern: string): (tree: Tree, node: number, path: string) => boolean {
  const wanted = pattern.trim().toLowerCase();
  if (/[*?]/.test(wanted)) {
    const source = wanted.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
    const whole = new RegExp(`^(.*/)?${source}$`, "s");
    return (tree, node, path) => whole.test(path) || whole.test(tree.names[node].toLowerCase()) || whole.test(tree.types[node].toLowerCase());
  }
  return (tree, node, path) => tree.names[node].toLowerCase().includes(wanted) || tree.types[node].toLowerCase() === wanted ||
    (wanted.includes("/") && path.endsWith(wanted));
}

function matchesOf(tree: Tree, pattern: string): Uint8Array {
  const found = new Uint8Array(tree.size);
  const matches = matcher(pattern);
  const paths: string[] = new Array(tree.size).fill("");
  for (let node = 0; node < tree.size; ++node) {
    const above = tree.parent[node];
    // Only the end of a path decides, and names may be long.
    paths[node] = above > 0 ? `${paths[above]}/${tree.names[node].toLowerCase()}`.slice(-2000) : tree.names[node].toLowerCase();
    if (node > 0 && matches(tree, node, paths[node])) found[node] = 1;
  }
  return found;
}

function show(tree: Tree, found: Uint8Array): Tree {
  const keeps = new Uint8Array(tree.size);
  for (let node = 0; node < tree.size; ++node) if (found[node]) keeps.fill(1, node, tree.end[node]);
  for (let node = tree.size - 1; node > 0; --node) if (keeps[node]) keeps[tree.parent[node]] = 1;
  return subtree(tree, 0, (node) => keeps[node] === 1);
}

function hide(tree: Tree, found: Uint8Array): Tree {
  const keeps = new Uint8Array(tree.size).fill(1);
  for (let node = 0; node < tree.size; ++node) if (found[node]) keeps.fill(0, node, tree.end[node]);
  return subtree(tree, 0, (node) => keeps[node] === 1);
}

// The topmost matches, below a root that has their sum.
function focus(tree: Tree, found: Uint8Array, pattern: string): Tree {
  const ids: number[] = [];
  const tops: number[] = [];
  for (let node = 1; node < tree.size;) {
    if (!found[node]) {
      ++node;
      continue;
    }
    tops.push(node);
    for (let below = node; below < tree.end[node]; ++below) ids.push(below);
    node = tree.end[node];
  }
  if (tops.length === 1) return subtree(tree, tops[0], () => true);
  const made: Tree = {...emptyTree(ids.length + 1), columns: [], parts: new Map()};
  made.names[0] = pattern;
  made.parent[0] = -1;
  const place = new Map<number, number>();
  ids.forEach((id, i) => {
    place.set(id, i + 1);
    copyNode(tree, id, made, i + 1);
    made.parent[i + 1] = found[id] && !place.has(tree.parent[id]) ? 0 : place.get(tree.parent[id]) ?? 0;
    made.depth[i + 1] = made.depth[made.parent[i + 1]] + 1;
  });
  closeTree(made);
  const take = (values: Float64Array, sums: boolean): Float64Array => {
    const taken = new Float64Array(ids.length + 1).fill(NaN);
    ids.forEach((id, i) => (taken[i + 1] = values[id]));
    if (sums) taken[0] = tops.reduce((sum, id) => sum + values[id], 0);
    return taken;
  };
  made.columns = tree.columns.map((column) => ({...column, values: take(column.values, addsUp(column.quantity)),
    low: column.low && take(column.low, false), high: column.high && take(column.high, false),
    deviation: column.deviation && take(column.deviation, false),
    marked: column.marked && [false, ...ids.map((id) => column.marked![id])]}));
  for (const [part, values] of tree.parts) made.parts.set(part, take(values, true));
  return made;
}

export interface Shaped {
  tree: Tree;
  matched: number; // by all filters but hide; -1: there are none
}

export function shapeTree(whole: Tree, shape: Shape): Shaped {
  let tree = ofPhase(whole, shape.phase);
  if (shape.level) tree = upTo(tree, shape.level);
  let matched = -1;
  for (const {mode, pattern} of shape.filters) {
    if (!pattern.trim()) continue;
    const found = matchesOf(tree, pattern);
    const count = found.reduce((sum, is) => sum + is, 0);
    if (mode !== "hide") matched = count;
    if (mode === "show") tree = show(tree, found);
    else if (mode === "hide") tree = hide(tree, found);
    else if (count) tree = focus(tree, found, pattern);
  }
  return {tree: complete(tree), matched};
}
