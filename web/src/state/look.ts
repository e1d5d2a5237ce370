// What is selected, open and filtered: shared by all views of a tree.
import type {Tree} from "../tree/tree";
import {childrenOf, hasChildren} from "../tree/tree";
import {columnOf} from "../tree/columns";
import type {Filter, FilterMode} from "../tree/shape";
import {joinList, splitList, type State} from "./url";

export const filtersOf = (state: State): Filter[] => splitList(state.filter).map((text) => {
  const colon = text.indexOf(":");
  return {mode: text.slice(0, colon) as FilterMode, pattern: text.slice(colon + 1)};
});
export const joinFilters = (filters: Filter[]): string => joinList(filters.map(({mode, pattern}) => `${mode}:${pattern}`));

// Which rows are open: all, none or those on the way of most of the energy, except for those that were switched. They are
// named by their place in the whole tree, which does not change while only numbers do.
export interface Openness {
  base: "auto" | "all" | "none";
  switched: Set<number>;
}
export function opennessOf(text: string): Openness {
  const [base, ...switched] = text.split(".");
  return {base: base === "all" || base === "none" ? base : "auto", switched: new Set(switched.map((id) => parseInt(id, 36)))};
}
export function joinOpenness({base, switched}: Openness): string {
  const ids = [...switched].map((id) => id.toString(36));
  return ids.length || base !== "auto" ? [base, ...ids].join(".") : "";
}

// Opens the path that most of the energy takes, as long as it is worth following.
function onTheWay(tree: Tree): Set<number> {
  const values = (columnOf(tree, "energy") ?? tree.columns[0])?.values;
  const open = new Set<number>();
  if (!values) return open;
  for (let node = 0; hasChildren(tree, node) && tree.level[node] < 3;) {
    if (node > 0 && !(values[node] > 0.1 * values[0])) break;
    open.add(node);
    let best = -1;
    for (const child of childrenOf(tree, node)) if (best < 0 || values[child] > values[best]) best = child;
    node = best;
  }
  return open;
}

// An open node of `tree` (1) or a closed one (0), by place. What was put together by the page has no place in the whole tree:
// it goes by its own.
export function openNodes(tree: Tree, openness: Openness): Uint8Array {
  const open = new Uint8Array(tree.size);
  const auto = openness.base === "auto" ? onTheWay(tree) : null;
  for (let node = 0; node < tree.size; ++node) {
    const isOpen = openness.base === "all" || (auto ? auto.has(node) : false);
    const id = tree.source[node] >= 0 ? tree.source[node] : node;
    open[node] = openness.switched.has(id) !== isOpen ? 1 : 0;
  }
  return open;
}

export function toggled(openness: Openness, tree: Tree, node: number): string {
  const switched = new Set(openness.switched);
  const id = tree.source[node] >= 0 ? tree.source[node] : node;
  if (!switched.delete(id)) switched.add(id);
  return joinOpenness({base: openness.base, switched});
}
