// All state of the page, as texts. It is in the address, so that a link shows the same and the browser's back works.
import {computed, signal, type ReadonlySignal} from "@preact/signals";

const defaults = {
  page: "explore",
  // What is asked for.
  model: "meta-llama/Llama-3.1-8B",
  config: "", // a config.json that was dropped in, instead of a model
  set: "", // KEY:VALUE, joined by ~
  mode: "", // "": a forward pass; generate; train
  batch: "1",
  seq: "", // "": as many as the model is usually given
  prompt: "512",
  generate: "128",
  dtype: "bfloat16",
  attention: "sdpa",
  optimizer: "adamw",
  checkpointing: "",
  gpus: "1",
  profile: "h100-sxm",
  region: "US",
  // How it is shown.
  fold: "1",
  view: "tree",
  level: "",
  column: "energy",
  columns: "", // those of the table, joined by commas; "": as many as fit
  order: "heavy",
  phase: "",
  filter: "", // MODE:PATTERN, joined by ~
  select: "", // a path
  zoom: "", // a path
  open: "", // which rows are open: auto, all or none, then those that were switched
  colour: "kind",
  name: "", // of the sandwich
  // Runs.
  run: "",
  window: "", // FROM-TO in seconds
  search: "",
  beside: "", // a model beside what was measured
  // Comparisons, sweeps, rankings.
  sides: "", // joined by ~, each a link's part or run:ID
  share: "", // compare shares instead of joules
  x: "batch",
  xs: "", // its values, joined by commas; "": the usual ones
  y: "",
  ys: "",
  value: "energy_j",
  by: "per_token_j",
  kind: "prediction",
};
export type Field = keyof typeof defaults;
export type State = Record<Field, string>;
export type Patch = Partial<State>;
export const fields = Object.keys(defaults) as Field[];
export const defaultState: State = defaults;

const plain = (text: string): string => encodeURIComponent(text).replace(/%(2C|3A|2F|40|3D)/gi, decodeURIComponent);

export function writeHash(state: State): string {
  const query = fields.filter((field) => field !== "page" && state[field] !== defaults[field])
    .map((field) => `${field}=${plain(state[field])}`);
  return `#${state.page}${query.length ? `?${query.join("&")}` : ""}`;
}

export function readHash(hash: string): State {
  const state = {...defaults};
  const [page, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  if (page) state.page = page;
  for (const pair of query.split("&")) {
    const at = pair.indexOf("=");
    const field = pair.slice(0, at) as Field;
    if (at < 0 || !(field in defaults) || field === "page") continue;
    try {
      state[field] = decodeURIComponent(pair.slice(at + 1));
    } catch {
      // Half an escape: a link that was cut. The rest of it holds.
    }
  }
  return state;
}

const now = signal<State>(readHash(location.hash));
export const state: ReadonlySignal<State> = now;
export const field = (name: Field): ReadonlySignal<string> => computed(() => now.value[name]);

// While a hand moves, the address follows at a distance: browsers limit how often it may change.
const addressMs = 250;
let later = 0;
function replaceSoon() {
  if (later) return;
  later = window.setTimeout(() => {
    later = 0;
    history.replaceState(null, "", writeHash(now.peek()));
  }, addressMs);
}
function settle() {
  if (!later) return;
  clearTimeout(later);
  later = 0;
  history.replaceState(null, "", writeHash(now.peek()));
}

// "step": one that back goes back over; "flow": part of a movement.
export function update(patch: Patch, how: "step" | "flow" = "step") {
  const next = {...now.peek(), ...patch};
  const hash = writeHash(next);
  if (hash === writeHash(now.peek())) return;
  if (how === "flow") {
    now.value = next;
    replaceSoon();
    return;
  }
  settle();
  now.value = next;
  history.pushState(null, "", hash);
}

const arrive = () => {
  if (later) {
    clearTimeout(later);
    later = 0;
  }
  now.value = readHash(location.hash);
};
window.addEventListener("popstate", arrive);
window.addEventListener("hashchange", () => {
  if (location.hash !== writeHash(now.peek())) arrive();
});
window.addEventListener("pagehide", settle);

export const linkTo = (patch: Patch, from: State = now.value): string => writeHash({...from, ...patch});

// Lists are joined by ~; in their parts, that and % are escaped.
export const splitList = (text: string): string[] => (text ? text.split("~").map((part) => part.replace(/%7E/g, "~").replace(/%25/g, "%")) : []);
export const joinList = (parts: string[]): string => parts.map((part) => part.replace(/%/g, "%25").replace(/~/g, "%7E")).join("~");
