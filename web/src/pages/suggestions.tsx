// What would save most: each is a prediction of its own, none is a rule of thumb.
import {effect, signal} from "@preact/signals";
import {ask} from "../api/client";
import type {Prediction} from "../api/types";
import {change, duration, isKnown, range, si} from "../parts/figures";
import {config} from "../state/catalog";
import {editsOf, joinEdits, questionOf, sideOf} from "../state/question";
import {follow} from "../state/request";
import {joinList, state, update, type State} from "../state/url";

interface Idea {
  text: string;
  caveat: string;
  change: Partial<State>;
}

const dtypes = ["float32", "bfloat16", "int8", "int4"];

// What could be done otherwise, from what is asked for now.
function ideasOf(now: State): Idea[] {
  const ideas: Idea[] = [];
  const at = dtypes.indexOf(now.dtype === "float16" ? "bfloat16" : now.dtype);
  const trains = now.mode === "train";
  for (const dtype of dtypes.slice(at + 1)) {
    if (trains && dtype.startsWith("int")) continue;
    ideas.push({text: `numbers in ${dtype}`, caveat: dtype.startsWith("int") ? "accuracy may change: measure it" : "", change: {dtype}});
  }
  if (now.attention === "eager") ideas.push({text: "fused attention (sdpa)", caveat: "", change: {attention: "sdpa"}});
  if (now.attention !== "flash") ideas.push({text: "flash attention", caveat: "needs a kernel for the machine", change: {attention: "flash"}});
  for (const factor of [4, 16]) {
    const batch = String(Number(now.batch) * factor);
    if (Number(batch) <= 1024) ideas.push({text: `batches of ${batch}`, caveat: "each request waits for the others", change: {batch}});
  }
  if (trains && now.checkpointing) ideas.push({text: "no gradient checkpointing", caveat: "needs more memory", change: {checkpointing: ""}});
  if (trains && now.optimizer.startsWith("adam")) ideas.push({text: "plain SGD", caveat: "converges otherwise", change: {optimizer: "sgd"}});
  const edits = new Map(editsOf(now));
  for (const key of ["num_hidden_layers", "n_layer", "num_layers"]) {
    const own = Number(edits.get(key) ?? config.value[key]);
    if (!(own >= 4)) continue;
    const fewer = Math.round(own * 0.75);
    ideas.push({text: `${fewer} layers instead of ${own}`, caveat: "accuracy will change: train and measure it", change: {set: joinEdits([...new Map(edits).set(key, String(fewer))])}});
  }
  return ideas;
}

interface Worth {
  idea: Idea;
  answer: Prediction;
}

// Only when the hand rests.
const restMs = 350;
const rested = signal<State | null>(null);
effect(() => {
  const now = state.value;
  if (now.page !== "explore") return undefined;
  const timer = setTimeout(() => (rested.value = now), restMs);
  return () => clearTimeout(timer);
});

const ask1 = (now: State, abort: AbortSignal): Promise<Prediction> => {
  const {query, body} = questionOf(now);
  return ask<Prediction>("predict", [...query, ["columns", "energy"], ["depth", "0"]], {body, signal: abort});
};

const weighed = follow<{base: Prediction; ideas: Worth[]}>(() => {
  const now = rested.value;
  if (!now || now.page !== "explore") return null;
  const {query, body} = questionOf(now);
  return JSON.stringify([query, body, Object.keys(config.value).length]);
}, async (_, abort) => {
  const now = rested.peek()!;
  const base = await ask1(now, abort);
  const ideas = await Promise.all(ideasOf(now).map(async (idea): Promise<Worth | null> => {
    try {
      return {idea, answer: await ask1({...now, ...idea.change}, abort)};
    } catch (error) {
      if ((error as Error).name === "AbortError") throw error;
      return null; // such as a size that the model cannot have
    }
  }));
  return {base, ideas: ideas.filter((worth): worth is Worth => worth !== null && worth.answer.fits !== false)};
});

export function Suggestions() {
  const {answer} = weighed.value;
  const per = answer?.base.energy_per_token_j ?? null;
  if (!answer || !isKnown(per)) return null;
  const rows = answer.ideas.map((worth) => ({...worth, saving: isKnown(worth.answer.energy_per_token_j) ? 1 - worth.answer.energy_per_token_j / per : NaN}))
    .filter(({saving}) => saving > 0.01).sort((a, b) => b.saving - a.saving).slice(0, 6);
  const scale = (answer.base.energy_per_token_j ?? 0) / (answer.base.energy_j ?? NaN);
  return (
    <section aria-labelledby="savings-h" class="savings">
      <h2 id="savings-h">What would save most</h2>
      {rows.length ? (
        <ul>{rows.map(({idea, answer: then, saving}) => {
          const itsScale = (then.energy_per_token_j ?? NaN) / (then.energy_j ?? NaN);
          return (
            <li key={idea.text}>
              <b>{idea.text}</b>
              <span class="bar" aria-hidden="true"><span class="fill" style={{width: `${100 * saving}%`}}><i style={{flexGrow: 1, background: "var(--less3)"}} /></span></span>
              <span title={isKnown(then.low_j) && isKnown(then.high_j) ? `between ${range(then.low_j * itsScale, then.high_j * itsScale, "J")} per token` : ""}>
                {change(-saving)} per token: {si(then.energy_per_token_j, "J")}, in {duration(then.seconds)}</span>
              <span class="dim">{idea.caveat}</span>
              <button type="button" class="button small" aria-label={`See it: ${idea.text}`} onClick={() => update({page: "compare", sides: joinList([sideOf(state.value), sideOf({...state.value, ...idea.change})])})}>See it</button>
            </li>
          );
        })}</ul>
      ) : <p class="lead">None of the changes that were tried saves more than 1 % per token.</p>}
      <p class="dim">Each is predicted like the result above{Number.isFinite(scale) ? `, against ${si(per, "J")} per token now` : ""}; those that do not fit into the memory are left out.</p>
    </section>
  );
}
