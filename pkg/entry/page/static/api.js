// Requests to the API, and whether they get through.
import { useEffect, useState } from './lib/hooks.js';
import { credentials, refused } from './signin.js';

// A refusal is an answer of the API that reports an error, as a problem document describes it.
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail || problem.title || `the server answered ${status}`);
    this.status = status;
    this.messages = problem.messages || [];
  }
}

async function answerOf(response) {
  const text = await response.text();
  let body = {};
  try {
    body = text ? JSON.parse(text) : {};
  } catch {
    body = { detail: text.slice(0, 500) };
  }
  const refusal = response.ok ? null : new Refusal(response.status, body);
  if (response.status === 401) refused(refusal.message);
  if (refusal) throw refusal;
  return body;
}

// get reads a resource.
export async function get(path, options) {
  return answerOf(await fetch(path, { headers: { Accept: 'application/json', ...credentials() }, ...options }));
}

// post sends a request that changes something, once, however often the browser sends it.
export async function post(path, body = {}) {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID(), ...credentials() };
  return answerOf(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }));
}

// runPath is the path of a run in the API, or of what belongs to it.
export function runPath(project, run, rest = '') {
  return `${projectPath(project)}/runs/${encodeURIComponent(run)}${rest}`;
}

// projectPath is the path of a project and environment, such as "shop@prod", in the API.
export function projectPath(project) {
  const [name, environment = 'default'] = project.split('@');
  return `/projects/${encodeURIComponent(name)}/${encodeURIComponent(environment)}`;
}

// readRun reads a run with all its steps.
export async function readRun(project, run) {
  const path = runPath(project, run);
  const all = await get(path);
  for (let page = all; page.next_step; ) {
    page = await get(`${path}?from=${page.next_step}`);
    all.steps = all.steps.concat(page.steps || []);
  }
  return all;
}

// readDifference reads all that differs between two revisions, which runs have deployed.
export async function readDifference(project, from, to) {
  const path = `${projectPath(project)}/revisions/${encodeURIComponent(from)}/diff/${encodeURIComponent(to)}`;
  const all = await get(path);
  for (let page = all; page.next_entry; ) {
    page = await get(`${path}?from=${page.next_entry}`);
    for (const key of ['files', 'stacks', 'templates']) all[key] = all[key].concat(page[key]);
  }
  return all;
}

// allPages reads a list to its end: key names the list in a page, and next the cursor of the page behind it.
export async function allPages(path, key, next) {
  const all = [];
  for (let cursor = ''; ; ) {
    const page = await get(cursor ? `${path}?${next}=${encodeURIComponent(cursor)}` : path);
    all.push(...(page[key] || []));
    cursor = page[next];
    if (!cursor) return all;
  }
}

// The connection: when requests began to fail, and who wants to know.
let lost = null;
const listeners = new Set();
function connected(since) {
  if ((since === null) === (lost === null)) return;
  lost = since;
  for (const tell of listeners) tell(lost);
}

// useConnection returns since when the server has not answered: a Date, or null.
export function useConnection() {
  const [since, tell] = useState(lost);
  useEffect(() => {
    listeners.add(tell);
    return () => listeners.delete(tell);
  }, []);
  return since;
}

// useLive reads something again and again, and returns { data, error, at }: what was read last, the refusal if the last
// request was refused, and when the data was read. pause says after how many milliseconds to read again; 0 ends it.
// Nothing is read while the page is hidden.
export function useLive(read, pause, about) {
  const [state, set] = useState({});
  useEffect(() => {
    let over = false;
    let timer = 0;
    set({});
    const once = async () => {
      clearTimeout(timer);
      let wait = 2000;
      try {
        const data = await read();
        if (over) return;
        connected(null);
        set((was) => (JSON.stringify(was.data) === JSON.stringify(data) && !was.error ? was : { data, at: new Date() }));
        wait = pause(data);
      } catch (error) {
        if (over) return;
        const refused = error instanceof Refusal && error.status < 500;
        connected(refused ? null : lost || new Date());
        set((was) => ({ ...was, error: refused ? error : was.error }));
        if (refused) wait = 5000;
      }
      if (wait && !document.hidden) timer = setTimeout(once, wait);
    };
    const shown = () => !document.hidden && once();
    once();
    document.addEventListener('visibilitychange', shown);
    addEventListener('stackwright:changed', shown);
    return () => {
      over = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', shown);
      removeEventListener('stackwright:changed', shown);
    };
  }, [about]);
  return state;
}

// changed says that the page has changed something, so that all that is shown is read again now.
export function changed() {
  dispatchEvent(new Event('stackwright:changed'));
}
