// Small parts that all views use.
import { h, Fragment } from './lib/preact.js';
import { useEffect, useRef, useState } from './lib/hooks.js';

// span writes a time in seconds as people say it.
export function span(seconds) {
  if (seconds < 0) seconds = 0;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = seconds / 3600;
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`;
}

// between is the time from one moment to another, in seconds; now without the other.
export function between(from, to) {
  return ((to ? new Date(to) : new Date()) - new Date(from)) / 1000;
}

// useNow returns the time, and draws again each second while active.
export function useNow(active) {
  const [now, set] = useState(() => new Date());
  useEffect(() => {
    if (!active) return undefined;
    const timer = setInterval(() => set(new Date()), 1000);
    return () => clearInterval(timer);
  }, [active]);
  return now;
}

// Took shows how long something takes or took.
export function Took({ from, to }) {
  const now = useNow(Boolean(from && !to));
  return from ? span(between(from, to || now)) : '–';
}

// Time shows a moment: how long it is ago, with the exact time for the pointer.
export function Time({ at }) {
  useNow(Boolean(at));
  if (!at) return null;
  const date = new Date(at);
  const seconds = between(at);
  const text = seconds < 86400 ? `${span(seconds)} ago` : date.toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' });
  return h('time', { dateTime: at, title: date.toLocaleString() }, text);
}

// The states of runs and steps: how they are drawn.
const styles = {
  succeeded: ['good', 'check'], done: ['good', 'check'], unchanged: ['calm', 'equal'],
  failed: ['bad', 'cross'], 'failed dirty': ['bad', 'cross'], refused: ['bad', 'cross'],
  running: ['busy', 'turn'], watch: ['busy', 'turn'], poll: ['busy', 'turn'], ready: ['busy', 'turn'], 'fenced off': ['busy', 'turn'],
  waiting: ['wait', 'hand'], paused: ['wait', 'bars'],
  pending: ['calm', 'dot'], queued: ['calm', 'dot'], skipped: ['calm', 'skip'], cancelled: ['calm', 'skip'], superseded: ['calm', 'skip'],
};

// toneOf is the colour of a state: good, bad, busy, wait or calm.
export function toneOf(state) {
  return (styles[state] || styles.pending)[0];
}

const shapes = {
  check: 'M3.5 8.500l3 3 6-7', cross: 'M4.500 4.500l7 7m0-7l-7 7', turn: 'M13 8a5 5 0 1 1-1.700-3.750M13 2v3h-3',
  hand: 'M8 4v4.500l3 1.700', bars: 'M6 4v8M10 4v8', dot: 'M8 7.900v.2', skip: 'M4 8h8', equal: 'M4 6.300h8M4 9.700h8',
};

// Mark is the symbol of a state.
export function Mark({ state }) {
  const [tone, shape] = styles[state] || styles.pending;
  return h('svg', { class: `mark ${tone} ${shape}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' },
    h('circle', { cx: 8, cy: 8, r: 7.25 }), h('path', { d: shapes[shape] }));
}

// State shows a state with its symbol.
export function State({ state }) {
  return h('span', { class: `state ${toneOf(state)}` }, h(Mark, { state }), state);
}

// Copy is a button that copies a text.
export function Copy({ text }) {
  const [done, set] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      set(true);
      setTimeout(() => set(false), 1500);
    } catch {
      set(false);
    }
  };
  return h('button', { type: 'button', class: 'small quiet', onClick: copy, 'aria-label': `Copy: ${text}` }, done ? 'Copied' : 'Copy');
}

// Panel is a box with something that a person has to see.
export function Panel({ tone = 'calm', title, children }) {
  return h('section', { class: `panel ${tone}`, role: tone === 'bad' ? 'alert' : undefined }, title && h('h2', null, title), children);
}

// Refused shows why a request was refused.
export function Refused({ error }) {
  if (!error) return null;
  return h(Panel, { tone: 'bad', title: error.message }, error.messages && error.messages.length > 1 &&
    h('ul', null, error.messages.map((m) => h('li', null, m))));
}

// Empty says that there is nothing, and what to do.
export function Empty({ title, children }) {
  return h('div', { class: 'empty' }, h('h2', null, title), children);
}

// Wait says that something is being read.
export function Wait() {
  return h('p', { class: 'reading', role: 'status' }, 'Reading…');
}

// Ask is a dialog with a reason. It calls done with the reason, or with nothing if the person changes their mind.
export function Ask({ title, text, action, danger, needsReason, done }) {
  const box = useRef(null);
  const [reason, set] = useState('');
  useEffect(() => box.current.showModal(), []);
  const end = (given) => {
    box.current.close();
    done(given);
  };
  return h('dialog', { ref: box, onCancel: () => done(), 'aria-labelledby': 'ask' },
    h('h2', { id: 'ask' }, title),
    text && h('p', null, text),
    h('label', null, needsReason ? 'Reason' : 'Reason (optional)',
      h('input', { type: 'text', maxLength: 1000, value: reason, onInput: (e) => set(e.target.value), autofocus: true, autocomplete: 'off' })),
    h('div', { class: 'buttons' },
      h('button', { type: 'button', class: 'quiet', onClick: () => end() }, 'Back'),
      h('button', { type: 'button', class: danger ? 'danger' : 'primary', disabled: needsReason && !reason.trim(), onClick: () => end(reason.trim()) }, action)));
}

// Tabs are links to the parts of a view.
export function Tabs({ at, all }) {
  return h('nav', { class: 'tabs', 'aria-label': 'Parts' }, all.map(({ id, label, href }) =>
    h('a', { href, class: at === id ? 'here' : '', 'aria-current': at === id ? 'page' : undefined }, label)));
}

// isPlan reports whether a run only shows what another would do.
export function isPlan(run) {
  return run.operation === 'plan' || run.operation.startsWith('plan-');
}

// runLink is the address of a run in the page.
export function runLink(project, run, part = '') {
  return `#/${encodeURIComponent(project)}/${encodeURIComponent(run)}${part && '/' + part}`;
}

export { h, Fragment };
