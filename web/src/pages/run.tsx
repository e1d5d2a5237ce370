// One run: what was measured, whose energy it is, and its tree.
import {useSignalEffect} from "@preact/signals";
import {useMemo} from "preact/hooks";
import {ask, pathOf as addressOf, type Query} from "../api/client";
import type {Account, Closure, LibraryEntry, LibraryList, Timeline} from "../api/types";
import {CopyButton, Menu} from "../parts/controls";
import {change, duration, integer, isKnown, percent, plural, si} from "../parts/figures";
import {Headline, type Worth} from "../parts/headline";
import {Notes, Trouble} from "../parts/notes";
import {models, profiles} from "../state/catalog";
import {again, follow} from "../state/request";
import {field, joinList, linkTo, splitList, state, update} from "../state/url";
import {columnOf} from "../tree/columns";
import {hasChildren, pathOf, readTree, type Tree} from "../tree/tree";
import {TreePanel} from "../views/panel";
import {Power, windowOf} from "../views/timeline";
import {Recording, type Measurement} from "./recording";

const page = field("page");
const run = field("run");
const marked = field("window");
const beside = field("beside");
const fold = field("fold");
const isShown = () => page.value === "runs" && run.value !== "";

const entry = follow<LibraryList>(() => (isShown() ? JSON.stringify([run.value, again.value]) : null),
  (question, signal) => ask<LibraryList>(`runs/${encodeURIComponent(JSON.parse(question)[0])}`, [], {signal}));
const entryNow = (): LibraryEntry | null => {
  const found = entry.value.answer?.entries[0];
  return found && found.id === run.value ? found : null;
};

function windowQuery(): Query {
  const window = windowOf(marked.value);
  if (!window) return [];
  if (window.step !== undefined) return [["step", window.step]];
  return [["from", String(window.from)], ["to", String(window.to)]];
}

const account = follow<Account>(() => {
  const known = entryNow();
  if (!isShown() || !known || known.form === "recording") return null;
  const [model, profile] = beside.value.split("@");
  const query: Query = [...windowQuery(), ["top", "0"], ...(fold.value ? [["fold", "true"] as [string, string]] : [])];
  if (model) query.push(["model", model]);
  if (model && profile) query.push(["profile", profile]);
  return JSON.stringify([known.id, query, again.value]);
}, (question, signal) => {
  const [id, query] = JSON.parse(question);
  return ask<Account>(`runs/${id}/account`, query, {signal});
});
const timeline = follow<Timeline>(() => {
  const known = entryNow();
  if (!isShown() || !known || known.form === "recording") return null;
  return JSON.stringify([known.id, again.value]);
}, (question, signal) => ask<Timeline>(`runs/${JSON.parse(question)[0]}/timeline`, [["slices", "1000"]], {signal}));
const measurement = follow<Measurement>(() => {
  const known = entryNow();
  if (!isShown() || known?.form !== "recording") return null;
  return JSON.stringify([known.id, again.value]);
}, (question, signal) => ask<Measurement>(`runs/${JSON.parse(question)[0]}/measurement`, [["slices", "600"]], {signal}));

function Devices({closure}: {closure: Closure[]}) {
  const total = closure.reduce((sum, books) => sum + books.total_j, 0);
  const sumOf = (of: (books: Closure) => number) => closure.reduce((sum, books) => sum + of(books), 0);
  const most = Math.max(...closure.map((books) => books.total_j), 1e-12);
  const error = Math.max(...closure.map((books) => Math.abs(books.closure_error)));
  if (!closure.length) return null;
  return (
    <section aria-labelledby="devices-h">
      <div class="line"><h2 id="devices-h">Energy by device</h2>
        <span class="legend push">
          <span><i class="swatch" style={{background: "var(--accent)"}} />attributed to operations</span>
          <span><i class="swatch" style={{background: "var(--idle)"}} />idle: no operation ran</span>
          <span><i class="swatch stripes" />unattributed: no operation may claim it</span>
        </span></div>
      <div class="books">
        {closure.map((books) => [
          <span key={`${books.device}n`} class="name">{books.device}</span>,
          <span key={`${books.device}b`} class="stack" style={{width: `${(100 * books.total_j) / most}%`}} title={`${si(books.attributed_j, "J")} attributed, ${si(books.idle_j, "J")} idle, ${si(books.unattributed_j, "J")} unattributed`}>
            <i style={{flexGrow: books.attributed_j / most, background: "var(--accent)"}} /><i style={{flexGrow: books.idle_j / most, background: "var(--idle)"}} />
            <i class="stripes" style={{flexGrow: books.unattributed_j / most}} /></span>,
          <b key={`${books.device}j`}>{si(books.total_j, "J")}</b>,
        ])}
      </div>
      <p class={error < 1e-9 ? "law" : "law broken"}>The parts sum to what was measured: {si(sumOf((books) => books.attributed_j), "J")} attributed
        + {si(sumOf((books) => books.idle_j), "J")} idle + {si(sumOf((books) => books.unattributed_j), "J")} unattributed = {si(total, "J")} (left over: {error.toExponential(1)} of it).</p>
      <div class="scroll" tabIndex={0} role="region" aria-label="The account by device">
        <table>
          <thead><tr><th scope="col" class="left">device</th>{["total", "attributed", "idle", "of it outside the trace", "unattributed", "window", "readings"].map((text) => <th scope="col" key={text}>{text}</th>)}
            <th scope="col" class="left">between readings</th><th scope="col" class="left">goes to</th></tr></thead>
          <tbody>{closure.map((books) => (
            <tr key={books.device}><th scope="row" class="name">{books.device}</th><td>{si(books.total_j, "J")}</td><td>{si(books.attributed_j, "J")}</td><td>{si(books.idle_j, "J")}</td>
              <td>{si(books.outside_trace_j, "J")}</td><td>{si(books.unattributed_j, "J")}</td><td>{duration(books.window_s)}</td><td>{integer(books.readings)}</td>
              <td class="left">{books.policy}</td><td class="left">{books.feeds}</td></tr>
          ))}</tbody>
        </table>
      </div>
    </section>
  );
}

function Beside() {
  const [model = "", profile = ""] = beside.value.split("@");
  return (
    <span class="line beside">
      <label>model that ran <input list="models" value={model} size={22} spellcheck={false} onChange={(event) => {
        const name = event.currentTarget.value.trim();
        update({beside: name ? (profile ? `${name}@${profile}` : name) : "", open: "", select: "", zoom: ""});
      }} /></label>
      <datalist id="models">{models.value.map((one) => <option key={one.name} value={one.name} />)}</datalist>
      {model && <label>predicted by <select value={profile} onChange={(event) => update({beside: event.currentTarget.value ? `${model}@${event.currentTarget.value}` : model})}>
        <option value="">nothing</option>{profiles.value.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}</select></label>}
    </span>
  );
}

// The parts where measured and predicted differ most, of those without parts that are shown.
function Parting({tree}: {tree: Tree}) {
  const measured = columnOf(tree, "energy");
  const predicted = tree.columns.find(({name, quantity, origin}) => quantity === "energy" && name !== "energy" && (origin === "predicted" || origin === "uncalibrated"));
  if (!measured || !predicted) return null;
  const rows: {node: number; off: number}[] = [];
  for (let node = 1; node < tree.size; ++node) {
    if (tree.level[node] > 2 || (hasChildren(tree, node) && tree.level[node] < 2 && tree.level[node + 1] <= 2)) continue;
    const off = predicted.values[node] - measured.values[node];
    if (Number.isFinite(off)) rows.push({node, off});
  }
  rows.sort((a, b) => Math.abs(b.off) - Math.abs(a.off));
  if (!rows.length) return null;
  const [all, said] = [measured.values[0], predicted.values[0]];
  return (
    <section aria-labelledby="parting-h">
      <h2 id="parting-h">Where measured and predicted part</h2>
      {isKnown(all) && isKnown(said) && <p class="lead">Predicted {si(said, "J")}, measured {si(all, "J")}: {change(said / all - 1)}.</p>}
      <div class="scroll" tabIndex={0} role="region" aria-label="Where they part">
        <table><thead><tr><th scope="col" class="left">part</th><th scope="col">measured</th><th scope="col">predicted</th><th scope="col">difference</th></tr></thead>
          <tbody>{rows.slice(0, 8).map(({node, off}) => (
            <tr key={node}><th scope="row"><button type="button" class="link name" onClick={() => update({select: pathOf(tree, node)})}>{pathOf(tree, node)}</button></th>
              <td>{si(measured.values[node], "J")}</td><td>{si(predicted.values[node], "J")}</td><td>{off > 0 ? "+" : "−"}{si(Math.abs(off), "J")}</td></tr>
          ))}</tbody></table>
      </div>
    </section>
  );
}

const exports: [string, string][] = [["perfetto", "Perfetto"], ["model-explorer", "Model Explorer: graph"], ["model-explorer-data", "Model Explorer: energy"],
  ["speedscope", "speedscope"], ["firefox", "Firefox Profiler"], ["pprof", "pprof"], ["folded", "folded stacks"], ["chrome", "Chrome trace"], ["tfevents", "TensorBoard"]];

// Hands the profile to Perfetto's page without an upload: it takes messages from whoever opened it.
async function openInPerfetto(id: string, title: string) {
  const place = "https://ui.perfetto.dev";
  const other = window.open(place);
  if (!other) return;
  const buffer = await (await fetch(addressOf(`runs/${id}/export`, [["to", "perfetto"]]))).arrayBuffer();
  const ping = setInterval(() => other.postMessage("PING", place), 100);
  const listen = (event: MessageEvent) => {
    if (event.origin !== place || event.data !== "PONG") return;
    clearInterval(ping);
    removeEventListener("message", listen);
    other.postMessage({perfetto: {buffer, title}}, place);
  };
  addEventListener("message", listen);
  setTimeout(() => clearInterval(ping), 30_000);
}

function ShareRun({known}: {known: LibraryEntry}) {
  const at = (what: string, query: Query) => addressOf(`runs/${known.id}/${what}`, query);
  return (
    <Menu label="Share and download" text="Share">
      {() => (
        <>
          <CopyButton label="Copy the link" text={() => location.href} />
          <CopyButton label="Copy the command" text={() => `beryl account ${known.files[0]?.name ?? known.name}`} />
          <a href={addressOf(`runs/${known.id}/file`)} download={known.files[0]?.name}>the file as it was given</a>
          {known.form !== "recording" && <>
            <a href={at("account", [...windowQuery(), ["format", "html"]])} download="report.html">report.html, one page</a>
            <a href={at("account", [...windowQuery()])} download="account.json">JSON</a>
            <a href={at("account", [...windowQuery(), ["format", "csv"]])} download="account.csv">CSV</a>
            <a href={at("diagram", [["format", "svg"]])} download="diagram.svg">SVG diagram</a>
            <a href={at("timeline", [["format", "svg"]])} download="timeline.svg">SVG of the power</a>
            <span class="dim">for other tools:</span>
            {exports.map(([to, text]) => <a key={to} href={at("export", [["to", to]])} download={`${known.name}.${to}`}>{text}</a>)}
            <button type="button" onClick={() => void openInPerfetto(known.id, known.name)}>Open in Perfetto (needs the internet)</button>
          </>}
        </>
      )}
    </Menu>
  );
}

export function Run() {
  const known = entryNow();
  const {answer, error, isPending} = account.value;
  const whole = useMemo(() => (answer ? readTree(answer.tree) : null), [answer]);
  useSignalEffect(() => {
    const named = entryNow();
    if (isShown() && named) document.title = `${named.name} · Beryl`;
  });
  const problem = entry.value.error ?? (known?.form === "recording" ? measurement.value.error : error);
  const back = <p><a href={linkTo({page: "runs", run: "", window: "", beside: ""})}>‹ all runs</a></p>;
  if (!known) return <main id="main" tabIndex={-1} class="wide">{back}{problem ? <Trouble error={problem} /> : <p class="loading" role="status">Opening the run…</p>}</main>;
  const sides = splitList(state.value.sides);
  const actions = (
    <div class="line actions">
      <button type="button" class="button" onClick={() => update({page: "compare", sides: joinList([...new Set([...sides, `run:${known.id}`])].slice(-8))})}>Compare</button>
      <ShareRun known={known} />
    </div>
  );
  if (known.form === "recording") {
    return <main id="main" tabIndex={-1} class="wide">{back}{problem && <Trouble error={problem} />}
      {measurement.value.answer ? <Recording measured={measurement.value.answer} name={known.name} actions={actions} /> : !problem && <p class="loading" role="status">Reading the recording…</p>}</main>;
  }
  const closure = answer?.closure ?? [];
  const total = closure.reduce((sum, books) => sum + books.total_j, 0);
  const attributed = closure.reduce((sum, books) => sum + books.attributed_j, 0);
  const seconds = Math.max(0, ...closure.map((books) => books.window_s));
  const worth: Worth = answer?.context.label ? "synthetic" : (known.origin as Worth | null) ?? "measured";
  const window = windowOf(marked.value);
  return (
    <main id="main" tabIndex={-1} class="wide">
      {back}
      {problem && <Trouble error={problem} kept={!!answer} />}
      {!answer && !problem && <p class="loading" role="status">Accounting for the energy…</p>}
      {answer && whole && (
        <>
          {answer.provenance.incomplete?.map((text) => <p class="law broken" role="alert" key={text}>{text}</p>)}
          <Headline energy={closure.length ? total : null} worth={worth} label={known.name} isOld={isPending && !answer}
            lead={<>{window && <b>{window.step ?? `${window.from} to ${window.to} s`} only. </b>}{answer.context.energy_source}. {percent(total ? attributed / total : null)} of it is attributed to operations.</>}
            facts={[{name: "mean power", value: closure.length && seconds ? si(closure.reduce((sum, books) => sum + books.total_j / books.window_s, 0), "W") : "?"},
              {name: "duration", value: duration(seconds)}, {name: "steps", value: integer(answer.context.steps)}, {name: "operations", value: si(known.figures.operations, "")}]}>
            {actions}
          </Headline>
          <Devices closure={closure} />
          {timeline.value.answer && <Power timeline={timeline.value.answer} shown={window} />}
          {timeline.value.error && <Trouble error={timeline.value.error} />}
          <TreePanel whole={whole} title="Where the joules went" isOld={!!error} note={<span class="dim">The {si(attributed, "J")} attributed to operations.</span>} tools={<Beside />} />
          {answer.alignment && <p class="lead">{answer.alignment.model}: {integer(answer.alignment.matched_modules)} of {plural(answer.alignment.described_modules, "module")} found,
            with {percent(answer.alignment.module_energy_j ? answer.alignment.matched_energy_j / answer.alignment.module_energy_j : null)} of the energy inside modules.</p>}
          {answer.alignment && <Parting tree={whole} />}
          <Notes notes={answer.notes} />
        </>
      )}
    </main>
  );
}
