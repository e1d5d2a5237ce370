// What a reader has to know of a result, and what went wrong.
import type {ApiError} from "../api/client";
import {login} from "../api/client";
import type {Note} from "../api/types";
import {again} from "../state/request";
import {loadCatalog} from "../state/catalog";
import {useState} from "preact/hooks";

export function Notes({notes}: {notes: Note[]}) {
  const shown = notes.filter((note) => note.class !== "skipped" && note.text);
  if (!shown.length) return null;
  return (
    <section class="notes" aria-labelledby="notes-h">
      <h2 id="notes-h">Notes</h2>
      <ul>{shown.map((note, i) => <li key={i}>{note.class === "assumed" && <b>assumed: </b>}{note.text}</li>)}</ul>
    </section>
  );
}

function Login() {
  const [wrong, setWrong] = useState("");
  return (
    <form class="line" onSubmit={async (event) => {
      event.preventDefault();
      const token = String(new FormData(event.currentTarget).get("token") ?? "");
      try {
        await login(token);
        ++again.value;
        void loadCatalog();
      } catch (error) {
        setWrong((error as ApiError).sentence);
      }
    }}>
      <label>This server wants its token <input name="token" type="password" autocomplete="current-password" required /></label>
      <button class="button">Log in</button>
      {wrong && <span class="wrong" role="alert">{wrong}</span>}
    </form>
  );
}

const hints: Record<number, string> = {
  0: "Is beryl serve running, and the network up? The page asks again when something is changed.",
  413: "That is larger than this server takes.",
  429: "Too many requests at once: wait a moment.",
  503: "The server has too much to do, or lacks what this needs.",
};

export function Trouble({error, kept}: {error: ApiError; kept?: boolean}) {
  return (
    <div class="trouble" role="alert">
      {error.status === 401 ? <Login /> : (
        <>
          <p><b>{error.status === 0 ? "No answer" : "That cannot be answered"}:</b> {error.sentence}</p>
          {hints[error.status] && <p>{hints[error.status]}</p>}
          {kept && <p>What stands below is of the question before.</p>}
          {(error.status === 0 || error.status >= 500) && <button type="button" class="button small" onClick={() => ++again.value}>Ask again</button>}
        </>
      )}
    </div>
  );
}
