// Requests to the API. Every address is relative, so that the page works below any path of a proxy.

export interface Wrong {
  parameter?: string;
  pointer?: string;
  detail: string;
}

export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly errors: Wrong[] = []) {
    super(message);
  }
  // What is wrong with a parameter, if the server named it.
  of(parameter: string): string | undefined {
    return this.errors.find((error) => error.parameter === parameter)?.detail;
  }
  // All that the server said.
  get sentence(): string {
    const more = this.errors.map(({parameter, detail}) => (parameter ? `${parameter}: ${detail}` : detail));
    return more.length ? more.join("; ") : this.message;
  }
}

export type Query = [string, string][];

export const queryText = (query: Query): string =>
  query.map(([key, value]) => `${key}=${encodeURIComponent(value).replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%2F/g, "/")}`).join("&");

export const pathOf = (path: string, query: Query = []): string =>
  `api/v1/${path}${query.length ? `?${queryText(query)}` : ""}`;

async function refuse(response: Response): Promise<never> {
  let problem: {detail?: string; title?: string; errors?: Wrong[]} = {};
  try {
    problem = await response.json();
  } catch {
    // A proxy answered, with a page of its own.
  }
  throw new ApiError(response.status, problem.detail ?? problem.title ?? `the server answered ${response.status}`,
    problem.errors);
}

async function send(address: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, {credentials: "same-origin", ...init});
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new ApiError(0, "the server cannot be reached");
  }
  if (!response.ok) return refuse(response);
  return response;
}

export interface Asking {
  body?: string;
  signal?: AbortSignal;
}

// The answer to GET, or to POST if there is a body.
export async function ask<Answer>(path: string, query: Query = [], {body, signal}: Asking = {}): Promise<Answer> {
  const init: RequestInit = body === undefined ? {signal}
    : {method: "POST", body, signal, headers: {"content-type": "application/json"}};
  return (await send(pathOf(path, query), init)).json();
}

export async function change<Answer>(method: "PATCH" | "DELETE", path: string, value?: unknown): Promise<Answer> {
  const body = value === undefined ? undefined : JSON.stringify(value);
  return (await send(pathOf(path), {method, body, headers: {"content-type": "application/json"}})).json();
}

export async function login(token: string): Promise<void> {
  await send(pathOf("login"), {method: "POST", body: token, headers: {"content-type": "text/plain"}});
}

// Sends files, and says how much of them has gone. fetch cannot say that.
export function upload<Answer>(path: string, query: Query, body: Blob | FormData,
  progress: (share: number) => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", pathOf(path, query));
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onerror = () => reject(new ApiError(0, "the server cannot be reached"));
    request.onload = () => {
      let answer: {detail?: string; title?: string; errors?: Wrong[]} = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // Not of this server.
      }
      if (request.status >= 200 && request.status < 300) resolve(answer as Answer);
      else reject(new ApiError(request.status, answer.detail ?? answer.title ?? `the server answered ${request.status}`, answer.errors));
    };
    request.send(body);
  });
}
