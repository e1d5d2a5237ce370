// Two to eight of anything, side by side: models that were never run, runs, or both.
import {useMemo} from "preact/hooks";
import {ApiError, ask, type Query} from "../api/client";
import type {Account, JsonNode, LibraryList, Origin, Prediction} from "../api/types";
import {Choice, CopyButton, Select} from "../parts/controls";
import {change, duration, isKnown, range, si} from "../parts/figures";
import {Badge, type Worth} from "../parts/headline";
import {Trouble} from "../parts/notes";
import {profiles} from "../state/catalog";
import {askedFields, sideOf, stateOfSide, treeQuestion} from "../state/question";
import {again, follow} from "../state/request";
import {defaultState, field, joinList, linkTo, splitList, state, update, type State} from "../state/url";
import {merge, type Side} from "../tree/merge";
import {readTree, type Tree} from "../tree/tree";
import {TreePanel} from "../views/panel";

interface Loaded {
  what: string; // its text in the address
  name: string;
  worth: Worth;
  origin: Origin;
  profile: string;
  energy: number | null;
  low: number | null;
  high: number | null;
  seconds: number | null;
  power: number | null;
  perToken: number | null;
  tree: JsonNode | null;
}
interface Comparison {
  sides: Loaded[];
  aligned: JsonNode | null; // with a column for each side, where the program had to align them
  says: string[];
}

const page = field("page");
const chosen = field("sides");
const fold = field("fold");

async function loadPrediction(what: string, signal: AbortSignal): Promise<Loaded> {
  const {query, body} = treeQuestion({...stateOfSide(what), fold: fold.peek()});
  const answer = await ask<Prediction>("predict", query, {body, signal});
  return {what, name: answer.model, worth: answer.calibrated ? "predicted" : "uncalibrated", origin: answer.calibrated ? "predicted" : "uncalibrated", profile: answer.profile,
    energy: answer.energy_j, low: answer.low_j, high: answer.high_j, seconds: answer.seconds, power: answer.power_w, perToken: answer.energy_per_token_j, tree: answer.tree};
}

async function loadRun(what: string, signal: AbortSignal): Promise<Loaded> {
  const id = what.slice(4);
  const entry = (await ask<LibraryList>(`runs/${encodeURIComponent(id)}`, [], {signal})).entries[0];
  const worth = (entry.origin ?? "measured") as Worth;
  const base = {what, name: entry.name, worth, origin: (entry.origin ?? "measured") as Origin, profile: "", energy: entry.figures.energy_j, low: entry.figures.low_j, high: entry.figures.high_j,
    seconds: entry.figures.duration_s, power: null, perToken: entry.figures.per_token_j, tree: null};
  if (entry.form === "recording") return base;
  const query: Query = [["top", "0"], ...(fold.peek() ? [["fold", "true"] as [string, string]] : [])];
  const account = await ask<Account>(`runs/${id}/account`, query, {signal});
  const energy = account.tree.energy_j as number | null;
  return {...base, energy, tree: account.tree};
}

// A run and a model have other names for their parts: the program aligns them, if the model is one that a name stands for.
async function loadAligned(sides: string[], signal: AbortSignal): Promise<{tree: JsonNode; says: string[]} | null> {
  const models = sides.filter((side) => !side.startsWith("run:")).map(stateOfSide);
  if (models.some((model) => model.set || model.config || model.mode === "train")) return null;
  const of = sides.map((side): [string, string] => {
    if (side.startsWith("run:")) return ["of", side.slice(4)];
    const {model, profile} = stateOfSide(side);
    return ["of", `${model}@${profile}`];
  });
  const query: Query = [...of];
  if (models.length) {
    const [{batch, seq, dtype, attention}] = models;
    query.push(["batch", batch], ["dtype", dtype], ["attention", attention], ["columns", "energy"]);
    if (seq) query.push(["seq", seq]);
  }
  const answer = await ask<{tree: JsonNode; verdicts?: {says: string}[]}>("compare", query, {signal});
  return {tree: answer.tree, says: (answer.verdicts ?? []).map(({says}) => says)};
}

const compared = follow<Comparison>(() => {
  const sides = splitList(chosen.value);
  if (page.value !== "compare" || !sides.length) return null;
  return JSON.stringify([sides, fold.value, again.value]);
}, async (question, signal) => {
  const [what] = JSON.parse(question) as [string[]];
  const isRun = (side: string) => side.startsWith("run:");
  const sides = await Promise.all(what.map(async (side) => {
    try {
      return await (isRun(side) ? loadRun(side, signal) : loadPrediction(side, signal));
    } catch (error) {
      if (error instanceof ApiError) throw new ApiError(error.status, `${isRun(side) ? side : stateOfSide(side).model}: ${error.sentence}`);
      throw error;
    }
  }));
  const isMixed = what.some(isRun) && !what.every(isRun);
  let aligned: {tree: JsonNode; says: string[]} | null = null;
  if (what.length > 1 && what.some(isRun)) {
    try {
      aligned = await loadAligned(what, signal);
    } catch (error) {
      // Without a verdict, totals still stand side by side.
      if ((error as Error).name === "AbortError") throw error;
      aligned = null;
    }
  }
  return {sides, aligned: isMixed ? aligned?.tree ?? null : null, says: aligned?.says ?? []};
});

// What tells the sides apart, in a few words each.
function labelsOf(sides: Loaded[]): string[] {
  const states = sides.map(({what}) => (what.startsWith("run:") ? null : stateOfSide(what)));
  const models = states.filter((one): one is State => one !== null);
  const differing = askedFields.filter((name) => models.some((one) => one[name] !== models[0]?.[name]));
  const labels = sides.map((side, i) => {
    const one = states[i];
    if (!one) return side.name || side.what;
    const words = differing.flatMap((name) => {
      if (name === "config") return one.config ? ["config.json"] : [];
      if (name === "model") return one.config ? [] : [one.model.split("/").at(-1)!];
      if (name === "set") return one.set ? [one.set.replace(/~/g, " ").replace(/:/g, "=")] : ["as it is"];
      if (name === "mode") return [{"": "forward", "generate": "generate", "train": "train"}[one.mode] ?? one.mode];
      if (["batch", "seq", "prompt", "generate", "gpus"].includes(name)) return one[name] ? [`${name} ${one[name]}`] : [];
      return one[name] ? [one[name]] : [];
    });
    return words.join(", ") || one.model.split("/").at(-1)!;
  });
  return labels.map((label, i) => (labels.indexOf(label) === i ? label : `${label} (${labels.slice(0, i + 1).filter((other) => other === label).length})`));
}

function verdictOf(sides: Loaded[], labels: string[]): string {
  if (sides.length < 2) return "";
  const known = sides.map((side, i) => ({...side, label: labels[i]})).filter(({energy}) => isKnown(energy));
  if (known.length < 2) return "What is not known cannot be compared.";
  const [first, last] = [known[0], known.at(-1)!];
  const best = known.reduce((a, b) => (b.energy! < a.energy! ? b : a));
  const of = (side: typeof first) => `${si(side.energy, "J")}`;
  const overlap = isKnown(first.low) && isKnown(first.high) && isKnown(last.low) && isKnown(last.high) && first.low <= last.high && last.low <= first.high;
  const caveat = !overlap ? "" : first.profile && first.profile === last.profile
    ? " Their intervals overlap, but both come from the same costs of operations, which err alike."
    : " Their intervals overlap: the order may be another.";
  const off = last.energy! / first.energy! - 1;
  const sentence = Math.abs(off) < 0.005 ? `${last.label} takes as much as ${first.label}: ${of(last)}.`
    : `${last.label} takes ${change(Math.abs(off)).replace("+", "")} ${off < 0 ? "less" : "more"} than ${first.label}: ${of(last)} instead of ${of(first)}.`;
  const least = known.length > 2 ? ` ${best.label} takes least: ${of(best)}.` : "";
  return sentence + least + caveat;
}

function Totals({sides, labels}: {sides: Loaded[]; labels: string[]}) {
  const most = Math.max(1e-12, ...sides.map(({energy, high}) => Math.max(energy ?? 0, high ?? 0)));
  const set = (next: string[]) => update({sides: joinList(next)});
  const all = sides.map(({what}) => what);
  return (
    <section aria-labelledby="totals-h">
      <h2 id="totals-h">Side by side</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Totals">
        <table class="sides">
          <thead><tr><th scope="col" class="left">side</th><th scope="col" class="left wide-cell">energy, with interval</th><th scope="col">energy</th><th scope="col">to the first</th><th scope="col">per token</th><th scope="col">time</th><th scope="col">power</th><th scope="col" class="left"><span class="hidden-text">what to do</span></th></tr></thead>
          <tbody>{sides.map((side, i) => (
            <tr key={side.what}>
              <th scope="row"><span class="name">{labels[i]}</span> <Badge worth={side.worth} /></th>
              <td class="wide-cell"><span class="bar" title={range(side.low, side.high, "J")}>{isKnown(side.energy) && <span class="fill" style={{width: `${(100 * side.energy) / most}%`}}><i style={{flexGrow: 1, background: `var(--device${i % 6})`}} /></span>}
                {isKnown(side.low) && isKnown(side.high) && <span class="whisker" style={{left: `${(100 * side.low) / most}%`, width: `${(100 * (side.high - side.low)) / most}%`}} />}</span></td>
              <td><b>{si(side.energy, "J")}</b></td>
              <td>{i === 0 ? "" : isKnown(side.energy) && isKnown(sides[0].energy) ? change(side.energy / sides[0].energy - 1) : "?"}</td>
              <td>{si(side.perToken, "J")}</td><td>{duration(side.seconds)}</td><td>{si(side.power, "W")}</td>
              <td class="left">
                <a class="button small" href={side.what.startsWith("run:") ? linkTo({page: "runs", run: side.what.slice(4)}) : linkTo({...Object.fromEntries(askedFields.map((name) => [name, stateOfSide(side.what)[name]])), page: "explore"})}>Open</a>{" "}
                {i > 0 && <button type="button" class="button small" onClick={() => set([side.what, ...all.filter((one) => one !== side.what)])}>First</button>}{" "}
                <button type="button" class="button small" aria-label={`Remove ${labels[i]}`} onClick={() => set(all.filter((_, at) => at !== i))}>×</button>
              </td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </section>
  );
}

// One more side that differs from the first in one thing.
function Adding({sides}: {sides: string[]}) {
  const first = sides.find((side) => !side.startsWith("run:"));
  const base = first !== undefined ? stateOfSide(first) : state.value;
  const add = (change: Partial<State>) => update({sides: joinList([...new Set([...sides, sideOf({...base, ...change})])].slice(-8))});
  const pick = (label: string, options: [string, string][], of: (value: string) => Partial<State>) => (
    <Select label={label} hideLabel value="" options={[["", label], ...options]} onChange={(value) => value && add(of(value))} />
  );
  if (sides.length >= 8) return <span class="dim">eight sides are the most</span>;
  return (
    <span class="line">
      <span class="dim">the same with</span>
      {pick("other numbers", ["float32", "float16", "bfloat16", "int8", "int4"].filter((one) => one !== base.dtype).map((one) => [one, one]), (dtype) => ({dtype}))}
      {pick("another attention", ["eager", "sdpa", "flash"].filter((one) => one !== base.attention).map((one) => [one, one]), (attention) => ({attention}))}
      {pick("another machine", profiles.value.filter(({name}) => name !== base.profile).map(({name}) => [name, name]), (profile) => ({profile}))}
      {pick("another batch", ["1", "2", "4", "8", "16", "32", "64"].filter((one) => one !== base.batch).map((one) => [one, one]), (batch) => ({batch}))}
      <a class="button small" href={linkTo({page: "explore"})}>anything in Explore</a>
      <a class="button small" href={linkTo({page: "runs", run: ""})}>a run</a>
    </span>
  );
}

const tintOf = (change: number, whole: number, isNoise: boolean, isOnly: boolean): string => {
  if (isOnly) return "--only";
  if (isNoise || !Number.isFinite(change)) return "--noise";
  const size = Math.abs(change) / whole;
  return `--${change < 0 ? "less" : "more"}${size > 0.1 ? 3 : size > 0.01 ? 2 : 1}`;
};

function Difference({sides, labels}: {sides: Side[]; labels: string[]}) {
  const asShares = state.value.share !== "";
  const merged = useMemo(() => merge(sides, asShares), [sides, asShares]);
  const {tree, change: changes, isNoise, only} = merged;
  const whole = asShares ? 1 : Math.max(tree.columns[1].values[0], tree.columns[sides.length].values[0]);
  const most = useMemo(() => changes.reduce((a, b, node) => (Number.isFinite(b) && node > 0 && Math.abs(b) > a ? Math.abs(b) : a), Math.abs(changes[0]) || 0), [changes]);
  return (
    <TreePanel whole={tree} title={asShares ? "How shares changed" : "Where it changed"}
      usual={[...(sides.length > 4 ? [] : sides.map((_, i) => `side${i}`)), "difference", "change"]}
      differs={{change: changes, most, tint: (node) => tintOf(changes[node], whole, isNoise[node] === 1, only[node] >= 0),
        note: (node) => (only[node] >= 0 ? `only ${labels[only[node]]}` : isNoise[node] ? "no more than noise" : "")}}
      tools={<Choice label="Compare" hideLabel value={asShares ? "1" : ""} options={[["", "joules"], ["1", "share"]]} onChange={(share) => update({share})} />}
      note={<span class="legend"><span><i class="swatch" style={{background: "var(--less3)"}} />{labels.at(-1)} takes less</span><span><i class="swatch" style={{background: "var(--noise)"}} />no more than noise</span>
        <span><i class="swatch" style={{background: "var(--more3)"}} />more</span><span><i class="swatch" style={{background: "var(--only)"}} />on one side only</span></span>} />
  );
}

// The columns of the sides, of a tree that the program aligned.
function alignedSides(json: JsonNode, sides: Loaded[], labels: string[]): Side[] {
  const tree = readTree(json);
  const energies = tree.columns.filter(({quantity, name}) => quantity === "energy" && !name.includes("difference"));
  return sides.map((side, i) => ({label: labels[i], origin: side.origin, tree: {...tree, columns: [{...(energies[i] ?? energies[0]), name: "energy"}]} as Tree}));
}

export function Compare() {
  const sides = splitList(state.value.sides);
  const {answer, error} = compared.value;
  const labels = useMemo(() => (answer ? labelsOf(answer.sides) : []), [answer]);
  const trees = useMemo((): Side[] => {
    if (!answer || answer.sides.length < 2) return [];
    if (answer.aligned) return alignedSides(answer.aligned, answer.sides, labels);
    const isMixed = answer.sides.some(({what}) => what.startsWith("run:")) && answer.sides.some(({what}) => !what.startsWith("run:"));
    if (isMixed || answer.sides.some(({tree}) => !tree)) return [];
    return answer.sides.map((side, i) => ({label: labels[i], origin: side.origin, tree: readTree(side.tree!)}));
  }, [answer, labels]);
  const verdict = answer ? (answer.says.length ? answer.says.join(" ") : verdictOf(answer.sides, labels)) : "";
  return (
    <main id="main" tabIndex={-1} class="wide">
      <div class="line"><h1>Compare</h1>{sides.length > 0 && <Adding sides={sides} />}
        {sides.length > 0 && <span class="push line"><CopyButton label="Copy the link" text={() => location.href} /><button type="button" class="button small" onClick={() => update({sides: ""})}>Start over</button></span>}</div>
      {!sides.length && (
        <div class="empty">
          <p>Nothing is kept to compare yet. Press Compare in Explore or beside a run; or start from here:</p>
          <p class="line centre">
            <button type="button" class="button" onClick={() => update({sides: joinList([sideOf(state.value), sideOf({...state.value, dtype: state.value.dtype === "int8" ? "bfloat16" : "int8"})])})}>{state.value.config ? "the configuration" : state.value.model} in {state.value.dtype} and {state.value.dtype === "int8" ? "bfloat16" : "int8"}</button>
            <button type="button" class="button" onClick={() => update({sides: joinList(["h100-sxm", "a100-80gb-sxm", "mi300x", "l40s"].map((profile) => sideOf({...defaultState, profile})))})}>a Llama on four machines</button>
          </p>
        </div>
      )}
      {error && sides.length > 0 && <Trouble error={error} kept={!!answer} />}
      {sides.length > 0 && !answer && !error && <p class="loading" role="status">Loading the sides…</p>}
      {sides.length > 0 && answer && (
        <>
          {verdict && <p class="verdict" role="status">{verdict}</p>}
          <Totals sides={answer.sides} labels={labels} />
          {trees.length > 1 ? <Difference sides={trees} labels={labels} />
            : answer.sides.length > 1 && <p class="lead">The trees of these cannot be matched: a recording has none, and a model that was edited has no name for the program to align a run with.</p>}
          {answer.sides.length === 1 && <p class="lead">Add a second side.</p>}
        </>
      )}
    </main>
  );
}
