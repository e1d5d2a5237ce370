// A model that was never run: what it would take, part by part.
import {useComputed, useSignalEffect} from "@preact/signals";
import {useMemo, useState} from "preact/hooks";
import {ask, pathOf as addressOf, type ApiError} from "../api/client";
import type {Prediction} from "../api/types";
import {CopyButton, Menu, saveFile} from "../parts/controls";
import {bytes, duration, integer, mass, money, percent, range, si} from "../parts/figures";
import {Headline, type Fact, type Worth} from "../parts/headline";
import {again, follow} from "../state/request";
import {commandOf, questionOf, sideOf, treeQuestion} from "../state/question";
import {defaultState, field, joinList, linkTo, splitList, state, update, type State} from "../state/url";
import {readTree} from "../tree/tree";
import {TreePanel} from "../views/panel";
import {Notes, Trouble} from "../parts/notes";
import {Controls} from "./controls";
import {Suggestions} from "./suggestions";

const page = field("page");
// Only what decides over the answer, so that a look elsewhere asks nothing.
const asked = follow<Prediction>(() => {
  void again.value;
  if (page.value !== "explore") return null;
  const {query, body} = treeQuestion(state.value);
  return JSON.stringify([query, body, again.value]);
}, async (question, signal) => {
  const [query, body] = JSON.parse(question);
  return ask<Prediction>("predict", query, {body: body ?? undefined, signal});
});

const worthOf = (prediction: Prediction): Worth => (prediction.calibrated ? "predicted" : "uncalibrated");

function factsOf(answer: Prediction, mode: string): Fact[] {
  const facts: Fact[] = [
    {name: mode === "generate" ? "per generated token" : "per token", value: si(answer.energy_per_token_j, "J")},
    {name: "time", value: duration(answer.seconds)},
    {name: "power", value: si(answer.power_w, "W")},
  ];
  const costs = answer.costs;
  if (costs) {
    const grid = costs.electricity;
    const million = `${si(costs.queries, "")} ${answer.training ? "sequences" : "queries"}`;
    facts.push({name: `${million}`, value: Number.isFinite(costs.kwh) ? si(costs.kwh! * 1000, "Wh") : "?"},
      {name: `at ${grid.price_per_kwh === null ? "an unknown price" : `${grid.price_per_kwh} ${grid.currency}/kWh`}`, value: money(costs.price, grid.currency), title: grid.price_source},
      {name: `CO₂e in ${grid.region}`, value: mass(costs.co2e_kg), title: `${grid.co2e_g_per_kwh} g/kWh, ${grid.carbon_source}, ${grid.carbon_date}`});
  }
  return facts;
}

function titleOf(answer: Prediction): string {
  const input = answer.generate !== null ? `${integer(answer.prompt)} + ${integer(answer.generate)} tokens` : answer.seq !== null ? `${integer(answer.seq)} tokens` : "";
  const run = answer.training ? "a step of training" : answer.generate !== null ? "generation" : "forward pass";
  return [`${answer.model}: ${run}`, `batch ${integer(answer.batch)}`, input, answer.dtype, `${answer.attention} attention`].filter(Boolean).join(", ");
}

function pin(now: State) {
  const sides = splitList(now.sides);
  const side = sideOf(now);
  if (!sides.includes(side)) sides.push(side);
  update({page: "compare", sides: joinList(sides.slice(-8))});
}

// Stores the prediction, for the leaderboard.
function Keep() {
  const [said, setSaid] = useState("");
  return (
    <button type="button" class="button" title="Keep this prediction in the library" onClick={async () => {
      const {query, body} = questionOf(state.value);
      try {
        await ask("predictions", query, {body: body ?? ""});
        setSaid("Kept");
      } catch (error) {
        setSaid((error as ApiError).sentence);
      }
      setTimeout(() => setSaid(""), 4000);
    }}><span aria-live="polite">{said || "Keep"}</span></button>
  );
}

function Share({answer}: {answer: Prediction}) {
  const now = state.value;
  const {query, body} = questionOf(now);
  const address = (format: string) => addressOf("predict", [...query, ["format", format]]);
  return (
    <Menu label="Share and download" text="Share">
      {() => (
        <>
          <CopyButton label="Copy the link" text={() => location.href} />
          <CopyButton label="Copy the command" text={() => commandOf(now)} />
          <code class="command" tabIndex={0}>{commandOf(now)}</code>
          {body === undefined && (
            <>
              <a href={address("json")} download="prediction.json">JSON, every part</a>
              <a href={address("csv")} download="prediction.csv">CSV, every part</a>
              <a href={address("irene")} download="irene.json">JSON as IrEne's tree</a>
            </>
          )}
          <button type="button" onClick={() => saveFile("prediction-shown.json", JSON.stringify(answer, null, 1))}>JSON, as shown here</button>
          <button type="button" onClick={() => {
            const canvas = document.querySelector<HTMLCanvasElement>(".picture canvas");
            canvas?.toBlob((blob) => blob && saveFile("beryl.png", blob));
          }} disabled={!["icicle", "treemap"].includes(now.view)}>PNG of the picture</button>
        </>
      )}
    </Menu>
  );
}

export function Explore() {
  const {answer, error, isPending} = asked.value;
  const whole = useMemo(() => (answer ? readTree(answer.tree) : null), [answer]);
  const mode = useComputed(() => state.value.mode);
  useSignalEffect(() => {
    if (page.value === "explore") document.title = `${state.value.config ? "config.json" : state.value.model} · Beryl`;
  });
  const isOld = !!error || (isPending && !answer);
  return (
    <div class="explore">
      {answer && <p class={`mini ${isOld ? "old" : ""}`} aria-hidden="true"><b>{si(answer.energy_j, "J")}</b> <span class="dim">{range(answer.low_j, answer.high_j, "J")}</span></p>}
      <Controls error={error} answer={answer} />
      <main id="main" tabIndex={-1}>
        {error && <Trouble error={error} kept={!!answer} />}
        {!answer && !error && <p class="loading" role="status">Predicting…</p>}
        {answer && whole && (
          <>
            <Headline energy={answer.energy_j} low={answer.low_j} high={answer.high_j} worth={worthOf(answer)} label={titleOf(answer)} isOld={isOld}
              facts={factsOf(answer, mode.value)}
              lead={<>
                {answer.fits === false && <b class="warn">Does not fit into the memory of {answer.machine}: {bytes(answer.memory.total_bytes)} needed. The numbers are as if it did. </b>}
                {percent(answer.interval)} of measurements are expected in the interval. Memory {bytes(answer.memory.total_bytes)}, of it weights {bytes(answer.memory.weights_bytes)}
                {answer.memory.cache_bytes > 0 && <>, cache {bytes(answer.memory.cache_bytes)}</>}. {answer.machine}.
                {answer.phases && <> {answer.phases.map(({phase, energy_j: joules}) => `${phase} ${si(joules, "J")}`).join(", ")}.</>}
              </>}>
              <div class="line actions">
                <button type="button" class="button" onClick={() => pin(state.value)} title="Keep this beside others (c)">Compare</button>
                <a class="button" href={linkTo({page: "sweep"})}>Sweep</a>
                <Keep />
                <Share answer={answer} />
              </div>
            </Headline>
            <TreePanel whole={whole} title="Model" isOld={isOld} tools={
              <label class="check fold"><input type="checkbox" checked={state.value.fold !== ""} onChange={(event) =>
                update({fold: event.currentTarget.checked ? defaultState.fold : "", open: "", select: "", zoom: ""})} /> like layers folded</label>} />
            <Suggestions />
            <Notes notes={answer.notes} />
          </>
        )}
      </main>
    </div>
  );
}
