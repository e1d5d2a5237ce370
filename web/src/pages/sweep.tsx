// One or two things varied: a curve or a heat map, and what needs least energy for its time.
import {useMemo} from "preact/hooks";
import {ask, pathOf as addressOf, type Query} from "../api/client";
import type {SweepResult, SweepRow} from "../api/types";
import {CopyButton, Menu, Select} from "../parts/controls";
import {bytes, duration, isKnown, mass, money, plural, si} from "../parts/figures";
import {Badge} from "../parts/headline";
import {Notes, Trouble} from "../parts/notes";
import {config, profiles} from "../state/catalog";
import {commandOf, editsOf, joinEdits, questionOf} from "../state/question";
import {again, follow} from "../state/request";
import {field, linkTo, state, update, type Field, type Patch} from "../state/url";
import {Bars, Curve, frontOf, HeatMap, Scatter, type HeatCell, type Point} from "../views/curve";

const page = field("page");

// What can be varied: its name in the state, or a key of the configuration.
const fixed: [string, string][] = [["batch", "batch"], ["seq", "sequence"], ["prompt", "prompt"], ["generate", "generated tokens"], ["gpus", "GPUs"], ["dtype", "numbers"],
  ["attention", "attention"], ["profile", "machine"]];
const isField = (key: string): boolean => fixed.some(([name]) => name === key);

const usual: Record<string, string> = {
  batch: "1,2,4,8,16,32,64", seq: "64,128,256,512,1024,2048,4096", prompt: "64,128,256,512,1024,2048", generate: "16,32,64,128,256,512", gpus: "1,2,4,8",
  dtype: "float32,float16,bfloat16,int8,int4", attention: "eager,sdpa,flash",
};
function valuesOf(key: string, chosen: string): string[] {
  if (chosen) return chosen.split(",").map((value) => value.trim()).filter(Boolean);
  if (key === "profile") return profiles.value.map(({name}) => name);
  if (usual[key]) return usual[key].split(",");
  const own = config.value[key];
  if (typeof own !== "number") return [];
  const steps = own <= 16 ? [0.25, 0.5, 0.75, 1, 1.5, 2] : [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
  return [...new Set(steps.map((share) => Math.max(1, Math.round(own * share))))].map(String);
}

interface Plan {
  query: Query;
  body?: string;
  keys: [string, string[]][];
}
function planOf(): Plan | null {
  const now = state.value;
  const keys: [string, string[]][] = [[now.x, valuesOf(now.x, now.xs)]];
  if (now.y && now.y !== now.x) keys.push([now.y, valuesOf(now.y, now.ys)]);
  if (keys.some(([, values]) => !values.length)) return null;
  const varied = new Set(keys.map(([key]) => key));
  const {query, body} = questionOf(now);
  const kept = query.filter(([key, value]) => !varied.has(key) && !(key === "set" && varied.has(value.split(":")[0])));
  for (const [key, values] of keys) {
    if (key === "profile") kept.push(["profile", values.join(",")]);
    else kept.push(["sweep", `${key}=${values.join(",")}`]);
  }
  // One machine alone is no sweep, so it is asked for as the only value of a batch.
  if (keys.length === 1 && keys[0][0] === "profile" && keys[0][1].length === 1) kept.push(["sweep", `batch=${now.batch}`]);
  return {query: kept, body, keys};
}

const swept = follow<{result: SweepResult; keys: [string, string[]][]}>(() => {
  if (page.value !== "sweep" || !profiles.value.length) return null;
  const plan = planOf();
  return plan && JSON.stringify([plan.query, plan.body, plan.keys, again.value]);
}, async (question, signal) => {
  const [query, body, keys] = JSON.parse(question);
  return {result: await ask<SweepResult>("predict", query, {body: body ?? undefined, signal}), keys};
});

const measures: [string, string, (row: SweepRow, currency: string) => string][] = [
  ["energy_j", "energy", (row) => si(row.energy_j, "J")],
  ["energy_per_token_j", "energy per token", (row) => si(row.energy_per_token_j, "J")],
  ["seconds", "time", (row) => duration(row.seconds)],
  ["power_w", "power", (row) => si(row.power_w, "W")],
  ["price", "price", (row, currency) => money(row.price, currency)],
  ["co2e_kg", "CO₂e", (row) => mass(row.co2e_kg)],
  ["memory_bytes", "memory", (row) => bytes(row.memory_bytes)],
  ["flops", "FLOP", (row) => si(row.flops, "")],
];
const numberOf = (row: SweepRow, measure: string): number => {
  const value = (row as unknown as Record<string, number | null>)[measure];
  return isKnown(value) ? value : NaN;
};
function formatOf(measure: string, currency: string): (value: number) => string {
  const shown = measures.find(([key]) => key === measure) ?? measures[0];
  return (value) => (value === 0 ? "0" : shown[2]({[shown[0]]: value} as unknown as SweepRow, currency));
}

// The answer names values as the command does; a machine may go by a short name.
const valueIn = (row: SweepRow, key: string): string => String(row.values[key] ?? (key === "profile" ? row.values.profile ?? "" : ""));

function pick(row: SweepRow, keys: [string, string[]][]) {
  const patch: Patch = {page: "explore"};
  const edits = new Map(editsOf(state.value));
  for (const [key] of keys) {
    const value = valueIn(row, key);
    if (isField(key)) patch[key as Field] = value;
    else edits.set(key, value);
  }
  update({...patch, set: joinEdits([...edits])});
}

function Controls() {
  const now = state.value;
  const keys: [string, string][] = [...fixed.filter(([key]) => (now.mode === "generate" ? key !== "seq" : key !== "prompt" && key !== "generate")),
    ...Object.keys(config.value).filter((key) => typeof config.value[key] === "number" && (config.value[key] as number) > 1).map((key): [string, string] => [key, key.replace(/_/g, " ")])];
  const axis = (which: "x" | "y", values: "xs" | "ys", label: string) => (
    <span class="line axis">
      <Select label={label} hideLabel value={now[which]} onChange={(key) => update({[which]: key, [values]: ""})} options={[...(which === "y" ? [["", "nothing else"] as [string, string]] : []), ...keys]} />
      {now[which] && <input aria-label={`Values of ${now[which]}`} spellcheck={false} value={now[values] || valuesOf(now[which], "").join(",")} onChange={(event) => {
        const text = event.currentTarget.value.trim();
        update({[values]: text === valuesOf(now[which], "").join(",") ? "" : text});
      }} />}
    </span>
  );
  return (
    <div class="line sweep-controls">
      <span class="dim">vary</span>{axis("x", "xs", "What is varied")}<span class="dim">and</span>{axis("y", "ys", "What else is varied")}
      <span class="dim">show</span><Select label="What is shown" hideLabel value={now.value} onChange={(value) => update({value})} options={measures.map(([key, text]) => [key, text])} />
    </div>
  );
}

export function Sweep() {
  const now = state.value;
  const {answer, error} = swept.value;
  const rows = answer?.result.rows ?? [];
  const keys = answer?.keys ?? [];
  const currency = answer?.result.electricity?.currency ?? "USD";
  const [measure, measureText] = measures.find(([key]) => key === now.value) ?? measures[0];
  const format = formatOf(measure, currency);
  // Variants do other work: what a token takes can be compared, what they take as a whole cannot.
  const worthOf = (row: SweepRow) => row.energy_per_token_j ?? row.energy_j ?? NaN;
  const front = useMemo(() => frontOf(rows.map((row) => ({x: row.seconds ?? NaN, y: worthOf(row)}))), [answer]);
  const labelOf = (row: SweepRow) => keys.map(([key]) => (keys.length > 1 && isField(key) && key !== "profile" ? `${key} ` : "") + valueIn(row, key)).join(", ");
  const title = now.config ? "config.json" : now.model;
  const [xKey, xValues] = keys[0] ?? ["", []];
  const isNumeric = xValues.length > 0 && xValues.every((value) => Number.isFinite(Number(value)));
  const hasY = keys.length > 1;
  const cellOf = (x: string, y: string): HeatCell | null => {
    const row = rows.find((one) => valueIn(one, xKey) === x && valueIn(one, keys[1][0]) === y);
    return row ? {value: numberOf(row, measure), text: row.failure ? "–" : format(numberOf(row, measure)), title: row.failure ?? (row.fits === false ? "does not fit into the memory" : labelOf(row)), onPick: () => pick(row, keys)} : null;
  };
  const plan = planOf();
  const points: Point[] = hasY ? [] : rows.map((row) => ({label: labelOf(row), x: Number(valueIn(row, xKey)), y: numberOf(row, measure), fails: row.failure,
    ...(measure === "energy_j" ? {low: row.low_j, high: row.high_j} : {}), onPick: () => pick(row, keys)}));
  const million = answer?.result.queries ? si(answer.result.queries, "") : "";
  return (
    <main id="main" tabIndex={-1} class="wide">
      <div class="line"><h1>Sweep</h1><a class="name" href={linkTo({page: "explore"})}>{title}</a>
        {answer?.result.calibrated !== undefined && <Badge worth={answer.result.calibrated ? "predicted" : "uncalibrated"} />}
        <span class="push"><Menu label="Share and download" text="Share">{() => (
          <>
            <CopyButton label="Copy the link" text={() => location.href} />
            <CopyButton label="Copy the command" text={() => `${commandOf(now)}${keys.filter(([key]) => key !== "profile").map(([key, values]) => ` --sweep ${key}=${values.join(",")}`).join("")}`} />
            {plan && plan.body === undefined && <><a href={addressOf("predict", plan.query)} download="sweep.json">JSON</a><a href={addressOf("predict", [...plan.query, ["format", "csv"]])} download="sweep.csv">CSV</a></>}
          </>
        )}</Menu></span></div>
      <Controls />
      {error && <Trouble error={error} kept={!!answer} />}
      {!answer && !error && <p class="loading" role="status">Predicting the variants…</p>}
      {answer && (
        <>
          <section aria-labelledby="sweep-h">
            <h2 id="sweep-h">{measureText} by {(fixed.find(([key]) => key === xKey) ?? [, xKey])[1]}{hasY ? ` and ${(fixed.find(([key]) => key === keys[1][0]) ?? [, keys[1][0]])[1]}` : ""}</h2>
            {hasY
              ? <HeatMap label={`${measureText} as a heat map`} corner={`${keys[1][0]} ↓ ${xKey} →`} columns={xValues} rows={keys[1][1]} cells={keys[1][1].map((y) => xValues.map((x) => cellOf(x, y)))} />
              : isNumeric
                ? <Curve label={`${measureText} by ${xKey}; the table below has the numbers`} isLog={Number(xValues.at(-1)) > 8 * Number(xValues[0])} xLabel={xKey.replace(/_/g, " ")} format={format} points={points} />
                : <Bars label={`${measureText} by ${xKey}`} format={format} points={points} />}
          </section>
          {rows.filter((row) => isKnown(row.energy_j) && isKnown(row.seconds)).length > 2 && (
            <section aria-labelledby="pareto-h">
              <h2 id="pareto-h">Energy per token against time</h2>
              <p class="lead">On the line is what no other variant beats in both.</p>
              <Scatter label="Energy per token against time of the variants" xLabel="time" yLabel="energy per token" formatX={(value) => duration(value)} formatY={(value) => si(value, "J")}
                spots={rows.map((row) => ({label: labelOf(row), x: row.seconds ?? NaN, y: worthOf(row), onPick: () => pick(row, keys)}))} />
            </section>
          )}
          <section aria-labelledby="rows-h">
            <h2 id="rows-h">{plural(rows.length, "variant")}</h2>
            <div class="scroll" tabIndex={0} role="region" aria-label="The variants as a table">
              <table>
                <thead><tr>{keys.map(([key]) => <th key={key} scope="col" class="left">{key}</th>)}{measures.map(([key, text]) => <th key={key} scope="col">{text}{million && ["price", "co2e_kg"].includes(key) ? ` of ${million}` : ""}</th>)}<th scope="col" class="left">fits</th></tr></thead>
                <tbody>{rows.map((row, i) => (
                  <tr key={i} class={front.has(i) ? "on-front" : ""}>
                    {keys.map(([key], at) => (at === 0 ? <th key={key} scope="row"><button type="button" class="link name" onClick={() => pick(row, keys)}>{valueIn(row, key)}</button></th> : <td key={key} class="left">{valueIn(row, key)}</td>))}
                    {row.failure ? <td colSpan={measures.length + 1} class="left wrong">{row.failure}</td> : <>{measures.map(([key, , text]) => <td key={key}>{text(row, currency)}</td>)}<td class="left">{row.fits === null ? "?" : row.fits ? "yes" : "no"}</td></>}
                  </tr>
                ))}</tbody>
              </table>
            </div>
          </section>
          <Notes notes={answer.result.notes} />
        </>
      )}
    </main>
  );
}
