// Stored predictions or runs, those that need least first.
import {ask, type Query} from "../api/client";
import type {LibraryFigures, LibraryList} from "../api/types";
import {Choice, Select} from "../parts/controls";
import {duration, isKnown, si} from "../parts/figures";
import {Badge, type Worth} from "../parts/headline";
import {Trouble} from "../parts/notes";
import {again, follow} from "../state/request";
import {field, linkTo, state, update} from "../state/url";

const page = field("page");
const by = field("by");
const kind = field("kind");

const ranked = follow<LibraryList>(() => (page.value === "leaderboard" ? JSON.stringify([by.value, kind.value, again.value]) : null), (question, signal) => {
  const [figure, what] = JSON.parse(question);
  const query: Query = [["by", figure], ["kind", what]];
  return ask<LibraryList>("leaderboard", query, {signal});
});

const figures: [keyof LibraryFigures, string, (value: number) => string][] = [
  ["per_token_j", "per token", (value) => si(value, "J")], ["per_query_j", "per query", (value) => si(value, "J")], ["per_step_j", "per step", (value) => si(value, "J")],
  ["energy_j", "energy", (value) => si(value, "J")], ["duration_s", "time", (value) => duration(value)], ["parameters", "parameters", (value) => si(value, "")],
  ["accuracy", "accuracy", (value) => String(+value.toPrecision(4))],
];

export function Leaderboard() {
  const now = state.value;
  const {answer, error} = ranked.value;
  const entries = answer?.entries ?? [];
  const figure = figures.find(([key]) => key === now.by) ?? figures[0];
  const most = Math.max(1e-30, ...entries.map((entry) => entry.figures[figure[0]] ?? 0));
  return (
    <main id="main" tabIndex={-1} class="wide">
      <div class="line"><h1>Leaderboard</h1>
        <Choice label="Of" hideLabel value={now.kind} options={[["prediction", "predictions"], ["run", "runs"]]} onChange={(value) => update({kind: value})} />
        <Select label="by" value={now.by} onChange={(value) => update({by: value})} options={figures.map(([key, text]) => [key, text])} /></div>
      {error && <Trouble error={error} kept={!!answer} />}
      {!answer && !error && <p class="loading" role="status">Ranking…</p>}
      {answer && (entries.length ? (
        <section aria-label="The ranking">
          <div class="scroll" tabIndex={0} role="region" aria-label="The ranking as a table">
            <table>
              <thead><tr><th scope="col" class="left">entry</th><th scope="col" class="left wide-cell">{figure[1]}</th>{figures.map(([key, text]) => <th key={key} scope="col">{text}</th>)}<th scope="col" class="left">machine or profile</th></tr></thead>
              <tbody>{entries.map((entry) => (
                <tr key={entry.id}>
                  <th scope="row">{entry.kind === "run" ? <a class="name" href={linkTo({page: "runs", run: entry.id})}>{entry.name}</a> : <span class="name">{entry.name || entry.model}</span>} {entry.origin && <Badge worth={entry.origin as Worth} />}</th>
                  <td class="wide-cell"><span class="bar"><span class="fill" style={{width: `${(100 * (entry.figures[figure[0]] ?? 0)) / most}%`}}><i style={{flexGrow: 1, background: "var(--accent)"}} /></span></span></td>
                  {figures.map(([key, , text]) => <td key={key} class={key === figure[0] ? "" : "dim"}>{isKnown(entry.figures[key]) ? text(entry.figures[key]!) : "?"}</td>)}
                  <td class="left name">{entry.profile ?? entry.machine ?? ""}</td>
                </tr>
              ))}</tbody>
            </table>
          </div>
        </section>
      ) : <p class="empty">Nothing has that figure yet. {now.kind === "prediction" ? "Press Keep in Explore to store a prediction." : "Add runs first."}</p>)}
    </main>
  );
}
