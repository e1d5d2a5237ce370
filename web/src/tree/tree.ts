// The one tree of a result and the columns beside it: nodes in pre-order, numbers in arrays. A tree never changes; what a
// view shows of it is a tree of its own, whose nodes say which node of the whole one they are (`source`).
import {levels, type JsonColumn, type JsonNode, type Origin} from "../api/types";

export interface Column {
  name: string;
  key: string;
  label: string;
  quantity: string;
  unit: string;
  origin: Origin;
  by: string;
  values: Float64Array; // NaN: unknown
  low?: Float64Array;
  high?: Float64Array;
  deviation?: Float64Array;
  marked?: boolean[];
  because?: string;
}

export interface Tree {
  size: number;
  names: string[];
  types: string[];
  level: Uint8Array; // in `levels`
  parent: Int32Array; // -1: the root
  end: Int32Array; // behind the last node below
  depth: Uint16Array;
  layers: Uint32Array;
  ranges: string[];
  runPhase: string[]; // of described models: forward, backward, prefill, ...
  kinds: string[];
  json: (JsonNode | null)[];
  columns: Column[];
  parts: Map<string, Float64Array>; // energy by part: "phases/forward", "devices/GPU:0"
  source: Int32Array; // of the whole tree; -1: none, it was put together
}

// The sum of several nodes of these is that of a node which holds them.
export const addsUp = (quantity: string): boolean => ["energy", "time", "flops", "bytes", "parameters", "count"].includes(quantity);

export function emptyTree(size: number): Omit<Tree, "columns" | "parts"> {
  return {
    size,
    names: new Array(size).fill(""),
    types: new Array(size).fill(""),
    level: new Uint8Array(size),
    parent: new Int32Array(size),
    end: new Int32Array(size),
    depth: new Uint16Array(size),
    layers: new Uint32Array(size).fill(1),
    ranges: new Array(size).fill(""),
    runPhase: new Array(size).fill(""),
    kinds: new Array(size).fill(""),
    json: new Array(size).fill(null),
    source: new Int32Array(size).fill(-1),
  };
}

function countNodes(root: JsonNode): number {
  let count = 0;
  const open = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    ++count;
    for (const child of node.children) open.push(child);
  }
  return count;
}

const intervalKeys = (key: string, end: string): string[] =>
  [key.replace(/(energy|predicted)_j$/, `${end}_j`), key.replace(/_j$/, `_${end}_j`)].filter((name) => name !== key);

export function readTree(root: JsonNode): Tree {
  const size = countNodes(root);
  const described = (root.columns ?? []).filter((column) => !column.of);
  const tree: Tree = {...emptyTree(size), columns: [], parts: new Map()};
  const array = () => new Float64Array(size).fill(NaN);
  interface Reader {
    keys: string[];
    into: Float64Array;
  }
  const readers: Reader[] = [];
  const read = (keys: string[]): Float64Array | undefined => {
    const found = keys.filter((key) => key in root);
    if (!found.length) return undefined;
    const into = array();
    readers.push({keys: found.slice(0, 1), into});
    return into;
  };
  for (const column of described) {
    const values = array();
    readers.push({keys: [column.key], into: values});
    tree.columns.push({
      name: column.name, key: column.key, label: column.label || column.name.replace(/_/g, " "), quantity: column.quantity,
      unit: column.unit, origin: column.origin, by: column.by, values,
      ...(column.quantity === "energy" ? {
        low: read(intervalKeys(column.key, "low")), high: read(intervalKeys(column.key, "high")),
        deviation: read(intervalKeys(column.key, "deviation")),
      } : {}),
      ...(column.mark_key ? {marked: new Array(size).fill(false), because: column.marked_because} : {}),
    });
  }
  const marks = described.flatMap((column: JsonColumn, i) => (column.mark_key ? [{key: column.mark_key, i}] : []));
  const groups = (["phases", "devices", "ranks"] as const).flatMap((group) =>
    Object.keys((root[group] as Record<string, number | null>) ?? {}).map((part) => {
      const into = array();
      tree.parts.set(`${group}/${part}`, into);
      return {group, part, into};
    }));

  let next = 0;
  const visit = (node: JsonNode, parent: number, depth: number) => {
    const id = next++;
    tree.names[id] = node.name;
    tree.types[id] = node.type;
    tree.level[id] = Math.max(0, levels.indexOf(node.level));
    tree.parent[id] = parent;
    tree.depth[id] = depth;
    tree.layers[id] = node.layers;
    tree.ranges[id] = node.range;
    tree.runPhase[id] = node.phase ?? "";
    tree.kinds[id] = node.kind ?? "";
    tree.json[id] = node;
    tree.source[id] = id;
    for (const {keys, into} of readers) {
      const value = node[keys[0]];
      if (typeof value === "number") into[id] = value;
    }
    for (const {key, i} of marks) if (node[key] === true) tree.columns[i].marked![id] = true;
    for (const {group, part, into} of groups) {
      const value = (node[group] as Record<string, number | null> | undefined)?.[part];
      if (typeof value === "number") into[id] = value;
    }
    for (const child of node.children) visit(child, id, depth + 1);
    tree.end[id] = next;
  };
  visit(root, -1, 0);
  return tree;
}

export function* childrenOf(tree: Tree, node: number): Generator<number> {
  for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) yield child;
}

export const hasChildren = (tree: Tree, node: number): boolean => tree.end[node] > node + 1;

// Names from below the root, joined; the second of like-named siblings has #2.
export function pathOf(tree: Tree, node: number): string {
  const names: string[] = [];
  for (let at = node; tree.parent[at] >= 0; at = tree.parent[at]) {
    let ordinal = 1;
    for (const sibling of childrenOf(tree, tree.parent[at])) {
      if (sibling === at) break;
      if (tree.names[sibling] === tree.names[at]) ++ordinal;
    }
    names.unshift(ordinal > 1 ? `${tree.names[at]}#${ordinal}` : tree.names[at]);
  }
  return names.join("/");
}

const pathTables = new WeakMap<Tree, Map<string, number>>();
export function nodeAt(tree: Tree, path: string): number {
  if (!path) return 0;
  let table = pathTables.get(tree);
  if (!table) {
    table = new Map();
    const paths: string[] = new Array(tree.size).fill("");
    for (let node = 0; node < tree.size; ++node) {
      const seen = new Map<string, number>();
      for (const child of childrenOf(tree, node)) {
        const ordinal = (seen.get(tree.names[child]) ?? 0) + 1;
        seen.set(tree.names[child], ordinal);
        const name = ordinal > 1 ? `${tree.names[child]}#${ordinal}` : tree.names[child];
        paths[child] = node === 0 ? name : `${paths[node]}/${name}`;
        table.set(paths[child], child);
      }
    }
    pathTables.set(tree, table);
  }
  return table.get(path) ?? -1;
}

// The node that stands for a node of the whole tree, or for the nearest one above it that is shown.
export function shownOf(tree: Tree, whole: Tree, source: number): number {
  const at = new Map<number, number>();
  for (let node = 0; node < tree.size; ++node) if (tree.source[node] >= 0 && !at.has(tree.source[node])) at.set(tree.source[node], node);
  for (let above = source; above >= 0; above = whole.parent[above]) {
    const found = at.get(above);
    if (found !== undefined) return found;
  }
  return 0;
}

const gather = (values: Float64Array, from: Int32Array): Float64Array => Float64Array.from(from, (id) => (id < 0 ? NaN : values[id]));

// The nodes that are kept, as a tree. A node whose parent is not kept goes below the nearest one above that is; there has
// to be a kept one above all others (`top`).
export function subtree(tree: Tree, top: number, keeps: (node: number) => boolean): Tree {
  const ids: number[] = [];
  for (let node = top; node < tree.end[top]; ++node) if (node === top || keeps(node)) ids.push(node);
  return rebuild(tree, Int32Array.from(ids), (at) => {
    const node = ids[at];
    return node === top ? -1 : tree.parent[node];
  });
}

// `from`: the nodes in pre-order; `parentOf`: the node of `tree` above the one at that place, kept or not; -1: none.
function rebuild(tree: Tree, from: Int32Array, parentOf: (at: number) => number): Tree {
  const size = from.length;
  const made: Tree = {...emptyTree(size), columns: [], parts: new Map()};
  const placeOf = new Map<number, number>();
  from.forEach((id, at) => placeOf.set(id, at));
  for (let at = 0; at < size; ++at) {
    const id = from[at];
    let above = parentOf(at);
    while (above >= 0 && !placeOf.has(above)) above = tree.parent[above];
    made.parent[at] = above < 0 ? (at === 0 ? -1 : 0) : placeOf.get(above)!;
    made.depth[at] = at === 0 ? 0 : made.depth[made.parent[at]] + 1;
    copyNode(tree, id, made, at);
  }
  closeTree(made);
  made.columns = tree.columns.map((column) => ({
    ...column,
    values: gather(column.values, from),
    low: column.low && gather(column.low, from),
    high: column.high && gather(column.high, from),
    deviation: column.deviation && gather(column.deviation, from),
    marked: column.marked && Array.from(from, (id) => column.marked![id]),
  }));
  for (const [part, values] of tree.parts) made.parts.set(part, gather(values, from));
  return made;
}

export function copyNode(tree: Tree, id: number, made: Omit<Tree, "columns" | "parts">, at: number) {
  made.names[at] = tree.names[id];
  made.types[at] = tree.types[id];
  made.level[at] = tree.level[id];
  made.layers[at] = tree.layers[id];
  made.ranges[at] = tree.ranges[id];
  made.runPhase[at] = tree.runPhase[id];
  made.kinds[at] = tree.kinds[id];
  made.json[at] = tree.json[id];
  made.source[at] = tree.source[id];
}

// Fills in where each node ends, from the parents.
export function closeTree(tree: Pick<Tree, "size" | "parent" | "end">) {
  for (let at = tree.size - 1; at >= 0; --at) {
    if (tree.end[at] === 0) tree.end[at] = at + 1;
    const above = tree.parent[at];
    if (above >= 0 && tree.end[above] < tree.end[at]) tree.end[above] = tree.end[at];
  }
}

// What a node has beyond what stands below it.
export function selfOf(tree: Tree, values: Float64Array): Float64Array {
  const self = Float64Array.from(values);
  for (let node = tree.size - 1; node > 0; --node) {
    if (Number.isFinite(values[node])) self[tree.parent[node]] -= values[node];
  }
  for (let node = 0; node < tree.size; ++node) {
    // What is left of rounding is nothing.
    if (self[node] < 1e-9 * Math.abs(values[node])) self[node] = 0;
  }
  return self;
}
