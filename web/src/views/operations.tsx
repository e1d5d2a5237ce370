// By operation: every name once, wherever it stands, with its callers below; and one name as a sandwich.
import {useMemo} from "preact/hooks";
import {opennessOf} from "../state/look";
import {state, update} from "../state/url";
import {Select} from "../parts/controls";
import {figure} from "../tree/columns";
import {byOperation, operationOf, sandwich} from "../tree/invert";
import type {Tree} from "../tree/tree";
import {childrenOf} from "../tree/tree";
import type {Look} from "./look";
import {TreeGrid} from "./treegrid";

// A look at a tree that the page put together: it has its own rows and no intervals.
function lookAt(tree: Tree, look: Look, openness: string, onOpen: (text: string) => void, selected: number, onSelect: (node: number) => void): Look {
  const column = tree.columns.find(({name}) => name === look.column.name) ?? tree.columns[0];
  return {...look, whole: tree, tree, column, segments: [], openness: opennessOf(openness), selected, onSelect, onOpen, columns: []};
}

export function Operations({look}: {look: Look}) {
  const name = state.value.name;
  const grouped = useMemo(() => byOperation(look.tree), [look.tree]);
  const names = useMemo(() => {
    const column = grouped.columns.find((one) => one.name === look.column.name) ?? grouped.columns[0];
    return [...childrenOf(grouped, 0)].sort((a, b) => column.values[b] - column.values[a]).map((node) => ({
      name: grouped.names[node], text: `${grouped.names[node]}  ${figure(column.values[node], column)}`,
    }));
  }, [grouped, look.column]);
  const cut = useMemo(() => (name ? sandwich(look.tree, name) : null), [look.tree, name]);
  const open = state.value.open;
  const pick = (tree: Tree) => (node: number) => {
    // Its place among all operations stands for the name, not for one node.
    if (tree.depth[node] > 0) update({select: `op:${tree.names[node]}`}, "flow");
  };
  const selectedName = state.value.select.startsWith("op:") ? state.value.select.slice(3) : look.selected > 0 ? operationOf(look.tree, look.selected) : "";
  const find = (tree: Tree): number => {
    for (const child of childrenOf(tree, 0)) if (tree.names[child] === selectedName) return child;
    return 0;
  };
  const select = (
    <Select label="one name, everywhere" value={cut ? name : ""} onChange={(value) => update({name: value, open: ""})}
      options={[["", "all operations"], ...names.map((one) => [one.name, one.text] as [string, string])]} />
  );
  if (cut) {
    const above = lookAt(cut.above, look, open === "" ? "all" : open, (text) => update({open: text}), 0, () => undefined);
    const inside = lookAt(cut.inside, look, open === "" ? "all" : open, (text) => update({open: text}), 0, () => undefined);
    return (
      <div class="sandwich">
        <div class="line">{select}</div>
        <h3>Who calls <span class="name">{name}</span></h3>
        <TreeGrid look={above} label={`Who calls ${name}`} height="half" />
        <h3>What is inside <span class="name">{name}</span></h3>
        <TreeGrid look={inside} label={`What is inside ${name}`} height="half" />
      </div>
    );
  }
  const shown = lookAt(grouped, look, open, (text) => update({open: text}), find(grouped), pick(grouped));
  // The root is open, the names are closed.
  shown.openness = open === "" ? {base: "none", switched: new Set([0])} : opennessOf(open);
  return (
    <>
      <div class="line">
        {select}
        {selectedName && names.some((one) => one.name === selectedName) &&
          <button type="button" class="button small" onClick={() => update({name: selectedName, open: ""})}>Callers and inside of {selectedName}</button>}
      </div>
      <TreeGrid look={shown} label="Energy by operation" />
    </>
  );
}
