// What the explore page asks the API for, from the state; and the same on the command line.
import type {Query} from "../api/client";
import {defaultState, joinList, readHash, splitList, writeHash, type State} from "./url";

// The fields that decide over a prediction.
export const askedFields = ["model", "config", "set", "mode", "batch", "seq", "prompt", "generate", "dtype", "attention", "optimizer",
  "checkpointing", "gpus", "profile", "region"] as const;

export interface Question {
  query: Query;
  body?: string; // a config.json
}

export const editsOf = (state: State): [string, string][] => splitList(state.set).map((pair) => {
  const colon = pair.indexOf(":");
  return [pair.slice(0, colon), pair.slice(colon + 1)];
});
export const joinEdits = (edits: [string, string][]): string => joinList(edits.map(([key, value]) => `${key}:${value}`));

// Without columns and without what only the page knows.
export function questionOf(state: State): Question {
  const query: Query = [];
  if (!state.config) query.push(["model", state.model]);
  for (const [key, value] of editsOf(state)) query.push(["set", `${key}:${value}`]);
  query.push(["batch", state.batch]);
  if (state.mode === "generate") {
    query.push(["prompt", state.prompt], ["generate", state.generate]);
  } else if (state.seq) {
    query.push(["seq", state.seq]);
  }
  if (state.mode === "train") {
    query.push(["training", "true"], ["optimizer", state.optimizer]);
    if (state.checkpointing) query.push(["gradient_checkpointing", "true"]);
  }
  query.push(["dtype", state.dtype], ["attention", state.attention]);
  if (+state.gpus > 1) query.push(["gpus", state.gpus]);
  query.push(["profile", state.profile], ["region", state.region]);
  return {query: query.filter(([, value]) => value !== ""), ...(state.config ? {body: state.config} : {})};
}

// The columns that a tree is made of; what else is shown follows from them.
const treeColumns = "energy,time,flops,bytes,parameters";
export function treeQuestion(state: State): Question {
  const {query, body} = questionOf(state);
  return {query: [...query, ["columns", treeColumns], ...(state.fold ? [["fold", "true"] as [string, string]] : [])], body};
}

// Where only the controls differ, a text that a link may carry: "model=gpt2&batch=8".
export function sideOf(state: State): string {
  const side = {...defaultState};
  for (const field of askedFields) side[field] = state[field];
  return writeHash(side).replace(/^#explore\??/, "");
}
export const stateOfSide = (side: string): State => readHash(`#explore?${side}`);

const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

// What gives the same numbers in a terminal.
export function commandOf(state: State): string {
  const {query, body} = questionOf(state);
  const words = ["beryl", "predict"];
  words.push(body === undefined ? state.model : "config.json");
  for (const [key, value] of query) {
    if (key === "model") continue;
    const option = `--${key.replace(/_/g, "-")}`;
    if (value === "true") words.push(option);
    else words.push(option, key === "set" ? value.replace(":", "=") : value);
  }
  return words.map(shellWord).join(" ");
}
