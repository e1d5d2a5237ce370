// Which columns there are to choose from: those of the result, and quotients of them.
import {change, integer, percent, si} from "../parts/figures";
import type {Column, Tree} from "./tree";

export const columnOf = (tree: Tree, name: string): Column | undefined => tree.columns.find((column) => column.name === name);

const quotients: [string, string, string, string, string, string][] = [
  ["power", "power", "power", "W", "energy", "time"],
  ["flops_per_j", "FLOP/J", "flops_per_joule", "FLOP/J", "flops", "energy"],
  ["flops_per_s", "FLOP/s", "flops_per_second", "FLOP/s", "flops", "time"],
  ["flops_per_byte", "FLOP/B", "flops_per_byte", "FLOP/B", "flops", "bytes"],
  ["bytes_per_s", "B/s", "bytes_per_second", "B/s", "bytes", "time"],
];

export function divide(above: Float64Array, below: Float64Array): Float64Array {
  return above.map((value, i) => (below[i] > 0 ? value / below[i] : NaN));
}

// Adds the quotients and shares that the result does not have, or whose parts were changed.
export function complete(tree: Tree): Tree {
  const columns = tree.columns.filter((column) => column.name !== "share" && !quotients.some(([name]) => name === column.name));
  const find = (name: string) => columns.find((column) => column.name === name);
  const energy = find("energy");
  if (energy) {
    const whole = energy.values[0];
    columns.push({name: "share", key: "share", label: "share", quantity: "share", unit: "", origin: energy.origin, by: energy.by,
      values: energy.values.map((value) => (whole > 0 ? value / whole : NaN))});
  }
  for (const [name, label, quantity, unit, above, below] of quotients) {
    const [up, down] = [find(above), find(below)];
    if (!up || !down) continue;
    columns.push({name, key: name, label, quantity, unit, origin: energy?.origin ?? up.origin, by: up.by, values: divide(up.values, down.values)});
  }
  return {...tree, columns};
}

export function figure(value: number, column: Pick<Column, "quantity" | "unit">): string {
  switch (column.quantity) {
    case "share":
      return percent(value);
    case "difference":
      return Number.isFinite(value) ? `${value > 0 ? "+" : value < 0 ? "−" : ""}${si(Math.abs(value), column.unit)}` : "?";
    case "points":
      return Number.isFinite(value) ? `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(100 * value).toFixed(1)}\u00a0pp` : "?";
    case "off":
      return change(value);
    case "ratio":
      return Number.isFinite(value) ? value.toPrecision(3) : "?";
    case "count":
      return integer(value);
    default:
      return si(value, column.unit);
  }
}

// Below a heading that names the unit, it would only be repeated.
export const cellFigure = (value: number, column: Column): string =>
  (column.label === column.unit ? si(value, "") : figure(value, column));

// Lengths of bars and areas need a quantity of which a node has at least as much as what is below it.
export const canFill = (column: Column | undefined): boolean =>
  !!column && ["energy", "time", "flops", "bytes", "parameters", "count"].includes(column.quantity);

export const labelOf = (column: Column): string => ({
  "moved": "bytes moved", "param.": "parameters",
} as Record<string, string>)[column.label] ?? column.label;
