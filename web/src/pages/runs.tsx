// The runs of the library: found, added and opened.
import {signal} from "@preact/signals";
import {useRef} from "preact/hooks";
import {ApiError, ask, change, upload, type Query} from "../api/client";
import type {LibraryEntry, LibraryList} from "../api/types";
import {Badge, type Worth} from "../parts/headline";
import {bytes, duration, percent, plural, si} from "../parts/figures";
import {Trouble} from "../parts/notes";
import {again, follow} from "../state/request";
import {field, joinList, linkTo, splitList, state, update} from "../state/url";
import {Run} from "./run";

const page = field("page");
const search = field("search");
const run = field("run");
const added = signal(0);

const listed = follow<LibraryList>(() => {
  if (page.value !== "runs" || run.value) return null;
  return JSON.stringify([search.value, again.value, added.value]);
}, (question, signal) => {
  const [text] = JSON.parse(question);
  const query: Query = [["max_results", "200"]];
  if (text) query.push(["search", text]);
  return ask<LibraryList>("runs", query, {signal});
});

interface Upload {
  what: string;
  share: number;
  error: ApiError | null;
}
const uploading = signal<Upload | null>(null);

const isPower = (name: string): boolean => /power|\.csv(\.gz)?$/i.test(name);
const isTrace = (name: string): boolean => /\.(json|json\.gz|pb|pb\.gz|xplane\.pb|trace)$/i.test(name);

// A trace and its power belong together; anything else is a run file or a recording by itself.
export async function addFiles(files: File[]) {
  const traces = files.filter((file) => isTrace(file.name) && !/power/i.test(file.name));
  const power = files.filter((file) => !traces.includes(file) && isPower(file.name));
  update({page: "runs", run: ""});
  const what = files.map((file) => file.name).join(", ");
  uploading.value = {what, share: 0, error: null};
  const progress = (share: number) => (uploading.value = {what, share, error: null});
  try {
    let list: LibraryList | null = null;
    if (traces.length || power.length) {
      if (!traces.length || !power.length) {
        throw new ApiError(0, `${traces.length ? "no power trace is" : "no trace of operations is"} among ${what}: drop both at once, or a run file or recording`);
      }
      const form = new FormData();
      for (const file of traces) form.append("ops", file, file.name);
      for (const file of power) form.append("power", file, file.name);
      list = await upload<LibraryList>("runs", [], form, progress);
    } else {
      for (const file of files) list = await upload<LibraryList>("runs", [["file_name", file.name]], file, progress);
    }
    uploading.value = null;
    ++added.value;
    if (list) open(list.entries[0]);
  } catch (error) {
    uploading.value = {what, share: 0, error: error instanceof ApiError ? error : new ApiError(0, String(error))};
  }
}

const fresh = {window: "", select: "", zoom: "", open: "", filter: "", phase: "", name: "", beside: ""};
const open = (entry: LibraryEntry) => update({page: "runs", run: entry.id, ...fresh});

const energyOf = ({figures}: LibraryEntry): string => si(figures.energy_j, "J");
const when = (text: string): string => text.replace("T", " ").replace(/:\d\d(\.\d+)?Z$/, "");

function Row({entry}: {entry: LibraryEntry}) {
  const side = `run:${entry.id}`;
  const sides = splitList(state.value.sides);
  return (
    <tr>
      <th scope="row"><a class="name" href={linkTo({page: "runs", run: entry.id, ...fresh})}>{entry.name || entry.id}</a>
        {entry.tags.map((tag) => <span class="tag" key={tag}>{tag}</span>)}</th>
      <td class="left">{entry.origin && <Badge worth={entry.origin as Worth} />}</td>
      <td>{energyOf(entry)}</td>
      <td>{duration(entry.figures.duration_s)}</td>
      <td>{si(entry.figures.operations, "")}</td>
      <td class="left name">{entry.model ?? ""}</td>
      <td class="left name">{entry.machine ?? ""}</td>
      <td>{bytes(entry.bytes)}</td>
      <td class="left">{when(entry.created)}</td>
      <td class="left">
        <button type="button" class="button small" disabled={sides.includes(side)} onClick={() => update({sides: joinList([...sides, side].slice(-8))})}>Compare</button>{" "}
        <button type="button" class="button small" aria-label={`Remove ${entry.name}`} onClick={async () => {
          if (!confirm(`Remove ${entry.name} from the library?`)) return;
          try {
            await change("DELETE", `runs/${entry.id}`);
            ++added.value;
          } catch (error) {
            uploading.value = {what: entry.name, share: 0, error: error as ApiError};
          }
        }}>Remove</button>
      </td>
    </tr>
  );
}

function Adding() {
  const file = useRef<HTMLInputElement>(null);
  const now = uploading.value;
  return (
    <div class="adding">
      <p><button type="button" class="button" onClick={() => file.current?.click()}>Add a run</button> <span class="dim">a run file or a recording; or a trace and its power, together.
        Or drop them anywhere.</span>
        <input ref={file} type="file" multiple hidden aria-label="Files of a run" onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          if (files.length) void addFiles(files);
          event.currentTarget.value = "";
        }} /></p>
      {now && !now.error && (
        <p role="status"><progress max="1" value={now.share < 1 ? now.share : undefined} aria-label={now.what} /> {now.share < 1 ? `sending ${percent(now.share)}` : "reading"} <span class="name">{now.what}</span></p>
      )}
      {now?.error && <Trouble error={now.error} />}
    </div>
  );
}

export function Runs() {
  if (run.value) return <Run />;
  const {answer, error} = listed.value;
  const sides = splitList(state.value.sides);
  return (
    <main id="main" tabIndex={-1} class="wide">
      <div class="line"><h1>Runs</h1>
        <input type="search" id="filter" placeholder="name, tag or note" aria-label="Search the runs" value={state.value.search} onInput={(event) => update({search: event.currentTarget.value}, "flow")} />
        {sides.length > 1 && <a class="button" href={linkTo({page: "compare"})}>Compare {sides.length}</a>}
      </div>
      <Adding />
      {error && <Trouble error={error} kept={!!answer} />}
      {!answer && !error && <p class="loading" role="status">Looking in the library…</p>}
      {answer && (answer.entries.length ? (
        <section aria-label="Runs of the library">
          <div class="scroll" tabIndex={0} role="region" aria-label="Runs">
            <table>
              <thead><tr>{["run", "energy is", "energy", "time", "operations", "model", "machine", "files", "added"].map((text) =>
                <th key={text} scope="col" class={["energy", "time", "operations", "files"].includes(text) ? "" : "left"}>{text}</th>)}<th scope="col" class="left"><span class="hidden-text">what to do</span></th></tr></thead>
              <tbody>{answer.entries.map((entry) => <Row key={entry.id} entry={entry} />)}</tbody>
            </table>
          </div>
          <p class="lead">{plural(answer.entries.length, "run")}{answer.next_page_token ? ", the newest; search for others" : ""}.</p>
        </section>
      ) : (
        <p class="empty">{state.value.search ? "No run has that in its name, tags or notes." : "The library has no runs yet. Record one with beryl record, or drop a trace and its power here."}</p>
      ))}
    </main>
  );
}
