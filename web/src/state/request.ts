// Answers that follow a question which changes while a hand moves: the latest question wins.
import {effect, signal, type ReadonlySignal} from "@preact/signals";
import {ApiError} from "../api/client";

export interface Followed<Answer> {
  // The last answer, also while a newer one is awaited or could not be had.
  answer: Answer | null;
  // What the answer is to.
  question: string;
  isPending: boolean;
  error: ApiError | null;
}

// A former request is left to finish if it is younger than this: ending it costs its connection, and its answer moves
// the numbers while the hand still moves.
const patienceMs = 80;

// Asks again whenever `question` changes; null: there is nothing to ask.
export function follow<Answer>(question: () => string | null,
  fetch: (question: string, signal: AbortSignal) => Promise<Answer>): ReadonlySignal<Followed<Answer>> {
  const followed = signal<Followed<Answer>>({answer: null, question: "", isPending: false, error: null});
  let running: {question: string; abort: AbortController; since: number} | null = null;
  let next: string | null = null;

  async function start(asked: string) {
    const mine = {question: asked, abort: new AbortController(), since: performance.now()};
    running = mine;
    if (!followed.peek().isPending) followed.value = {...followed.peek(), isPending: true};
    try {
      const answer = await fetch(asked, mine.abort.signal);
      if (running !== mine) return;
      running = null;
      followed.value = {answer, question: asked, isPending: next !== null, error: null};
    } catch (error) {
      if (running !== mine) return;
      running = null;
      if ((error as Error).name !== "AbortError") {
        const problem = error instanceof ApiError ? error : new ApiError(0, String((error as Error).message));
        followed.value = {...followed.peek(), question: asked, isPending: next !== null, error: problem};
      }
    }
    startNext();
  }
  function startNext() {
    if (next === null || running) return;
    const asked = next;
    next = null;
    void start(asked);
  }
  effect(() => {
    const asked = question();
    if (asked === null) {
      next = null;
      running?.abort.abort();
      running = null;
      if (followed.peek().isPending) followed.value = {...followed.peek(), isPending: false};
      return;
    }
    if (asked === running?.question) {
      next = null;
      return;
    }
    if (!running && asked === followed.peek().question && !followed.peek().error) return;
    next = asked;
    if (running && performance.now() - running.since > patienceMs) {
      running.abort.abort();
      running = null;
    }
    startNext();
  });
  return followed;
}

// The same question again, such as after a login or when the server is back.
export const again = signal(0);
