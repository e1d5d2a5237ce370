// Colours by what a node does. They differ in lightness as well as in hue, so that they stay apart without colour vision.
import type {Tree} from "../tree/tree";

export const kinds = ["matrix product", "attention", "normalization", "activation", "embedding", "copy and the rest", "module"] as const;
export type Kind = (typeof kinds)[number];

const byKind: Record<string, Kind> = {
  "matmul": "matrix product", "batched-matmul": "matrix product", "convolution": "matrix product",
  "attention": "attention", "softmax": "attention", "norm": "normalization", "elementwise": "activation", "gather": "embedding",
  "copy": "copy and the rest", "reduce": "copy and the rest", "send": "copy and the rest", "view": "copy and the rest",
};
// The first that matches: post_attention_layernorm is a norm.
const byName: [RegExp, Kind][] = [
  [/norm/i, "normalization"],
  [/softmax|attention|sdpa|flash|bmm|rotary/i, "attention"],
  [/embed|gather|index/i, "embedding"],
  [/linear|matmul|\bmm\b|addmm|conv|gemm|dense/i, "matrix product"],
  [/gelu|relu|silu|tanh|activation|act_fn|add|mul|sub|div|pow|dropout/i, "activation"],
];

export function kindOf(tree: Tree, node: number): Kind {
  if (tree.kinds[node]) return byKind[tree.kinds[node]] ?? "copy and the rest";
  const isLeaf = tree.end[node] === node + 1;
  // A module without modules inside is what it does; others are many things.
  if (tree.level[node] < 2 && !isLeaf) return "module";
  const name = `${tree.types[node]} ${tree.names[node]}`;
  const found = byName.find(([pattern]) => pattern.test(name));
  return found ? found[1] : isLeaf ? "copy and the rest" : "module";
}

export const kindVariable = (kind: Kind): string => `--kind${kinds.indexOf(kind)}`;

export const phaseVariable = (phase: string): string =>
  ["forward", "backward", "optimizer"].includes(phase) ? `--${phase}` : phase === "prefill" ? "--forward" : phase === "decode" ? "--backward" : "--other";

// The style's colours as the canvas needs them; read again when the scheme changes.
let cache = new Map<string, string>();
export function colourOf(variable: string): string {
  let colour = cache.get(variable);
  if (!colour) {
    colour = getComputedStyle(document.documentElement).getPropertyValue(variable).trim() || "#888";
    cache.set(variable, colour);
  }
  return colour;
}
const forget = () => (cache = new Map());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", forget);
matchMedia("(prefers-contrast: more)").addEventListener("change", forget);

// Nine steps from little to much, of one hue.
export const shareSteps = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7];
export const shareStep = (share: number): number => {
  const at = shareSteps.findIndex((most) => share < most);
  return at < 0 ? shareSteps.length : at;
};
