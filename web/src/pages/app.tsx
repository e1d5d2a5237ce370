// The frame around the pages: where one is, what keys there are, and what may be dropped.
import {effect, signal} from "@preact/signals";
import type {ComponentType} from "preact";
import {useEffect} from "preact/hooks";
import {Dialog} from "../parts/controls";
import {state, update, linkTo} from "../state/url";
import {viewNames} from "../views/panel";
import {readConfig} from "./controls";
import {Compare} from "./compare";
import {Explore} from "./explore";
import {Leaderboard} from "./leaderboard";
import {Live} from "./live";
import {addFiles, Runs} from "./runs";
import {Sweep} from "./sweep";

const pages: {name: string; title: string; page: ComponentType}[] = [
  {name: "explore", title: "Explore", page: Explore},
  {name: "runs", title: "Runs", page: Runs},
  {name: "compare", title: "Compare", page: Compare},
  {name: "sweep", title: "Sweep", page: Sweep},
  {name: "leaderboard", title: "Leaderboard", page: Leaderboard},
  {name: "live", title: "Live", page: Live},
];

const isHelpOpen = signal(false);
const isDropping = signal(false);

const keys: [string, string][] = [
  ["1 – 5", "tree, icicle, operations, treemap, graph"],
  ["/", "filter"],
  ["m", "search a model"],
  ["o", "heaviest first, or in the order of the model"],
  ["l", "next level"],
  ["f", "fold like layers"],
  ["c", "keep this to compare"],
  ["↑ ↓ ← →", "move in the tree; in the icicle up, down and beside"],
  ["Enter, Space", "open and close; zoom in"],
  ["Esc", "zoom out; leave a field"],
  ["Home, End", "first and last row"],
  ["?", "these keys"],
];

function onKey(event: KeyboardEvent) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target as HTMLElement;
  if (target.matches("input:not([type=checkbox]):not([type=radio]):not([type=range]), select, textarea")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  const now = state.peek();
  const view = viewNames[Number(event.key) - 1];
  if (view && ["explore", "runs", "compare"].includes(now.page)) update({view: view[0]});
  else if (event.key === "/") document.getElementById("filter")?.focus();
  else if (event.key === "m") document.querySelector<HTMLElement>(".combobox input")?.click(), document.querySelector<HTMLElement>(".combobox input")?.focus();
  else if (event.key === "o") update({order: now.order === "model" ? "heavy" : "model"});
  else if (event.key === "f") update({fold: now.fold ? "" : "1", open: "", select: "", zoom: ""});
  else if (event.key === "l") {
    const all = ["", "model", "module", "ml", "math", "kernel"];
    update({level: all[(all.indexOf(now.level) + 1) % all.length]});
  } else if (event.key === "c") document.querySelector<HTMLElement>(".actions button")?.click();
  else if (event.key === "?") isHelpOpen.value = true;
  else return;
  event.preventDefault();
}

function onDrop(event: DragEvent) {
  isDropping.value = false;
  const files = [...(event.dataTransfer?.files ?? [])];
  if (!files.length) return;
  event.preventDefault();
  // A single small JSON is a configuration; anything else, a run.
  if (files.length === 1 && /\.json$/i.test(files[0].name) && files[0].size < 1 << 20) readConfig(files[0]);
  else void addFiles(files);
}

function useDrops() {
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
      event.preventDefault();
      isDropping.value = true;
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) isDropping.value = false;
    };
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", onDrop);
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", onDrop);
      document.removeEventListener("keydown", onKey);
    };
  }, []);
}

// A reader of the page by ear is told that another one is shown.
let shown = "";
effect(() => {
  const page = state.value.page;
  if (shown && shown !== page) requestAnimationFrame(() => document.getElementById("main")?.focus({preventScroll: true}));
  shown = page;
});

export function App() {
  useDrops();
  const now = state.value;
  const {page: Page} = pages.find(({name}) => name === now.page) ?? pages[0];
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>Skip to the numbers</a>
      <header class="top">
        <a class="brand" href={linkTo({page: "explore"})}>
          <svg viewBox="0 0 24 24" aria-hidden="true"><path fill="var(--accent)" d="M12 1l9.5 5.5v11L12 23l-9.5-5.5v-11z" />
            <path fill="none" stroke="var(--page)" stroke-width="1.4" d="M12 23V12M12 12l9.5-5.5M12 12L2.5 6.5" /></svg>
          Beryl
        </a>
        <nav aria-label="Pages">
          {pages.map(({name, title}) => <a key={name} href={linkTo({page: name})} aria-current={now.page === name ? "page" : undefined}>{title}</a>)}
        </nav>
        <button type="button" class="button small" aria-label="Keys" onClick={() => (isHelpOpen.value = true)}>?</button>
      </header>
      <Page />
      {isDropping.value && <div class="dropping" aria-hidden="true"><p>A config.json, a run file, or a trace and its power</p></div>}
      <Dialog title="Beryl, and its keys" isOpen={isHelpOpen.value} onClose={() => (isHelpOpen.value = false)}>
        <p class="lead">Beryl says where a deep-learning program's joules go: predicted for models that were never run, measured for runs. All views show
          one tree; selection, filters and the link are shared.</p>
        <p class="lead">Everything here is also a command (<code>beryl predict</code>) and a request: <a href="api/v1/openapi.yaml">the API</a>.
          The question and several views are those of IrEne-viz; <a href="https://aclanthology.org/2021.acl-long.167/" rel="noreferrer">its paper</a> is on the internet.</p>
        <dl class="keys">{keys.map(([key, what]) => [<dt key={key}><kbd>{key}</kbd></dt>, <dd key={what}>{what}</dd>])}</dl>
      </Dialog>
    </>
  );
}
