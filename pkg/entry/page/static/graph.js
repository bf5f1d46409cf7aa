// The graph of stacks: what depends on what, and how far each is.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from './lib/hooks.js';
import { h, Wait, toneOf } from './parts.js';

const height = 34;
const most = 2500; // stacks that are drawn one by one: more are drawn as folders

// stacksOf collects the steps of each stack: its state, what it needs, and whether it is on the critical path.
export function stacksOf(run) {
  const byStep = new Map((run.steps || []).map((s) => [s.step, s]));
  const critical = new Set(run.critical_path || []);
  const all = new Map();
  for (const s of run.steps || []) {
    if (!s.stack) continue;
    const stack = all.get(s.stack) || { name: s.stack, steps: [], needs: new Set(), critical: false };
    all.set(s.stack, stack);
    stack.steps.push(s);
    stack.critical ||= critical.has(s.step);
    for (const before of s.after || []) {
      const other = byStep.get(before);
      if (other && other.stack && other.stack !== s.stack) stack.needs.add(other.stack);
    }
  }
  for (const stack of all.values()) stack.state = stateOf(stack.steps);
  return [...all.values()];
}

// stateOf is the state of several steps as one: the one that a person should see first.
export function stateOf(steps) {
  for (const state of ['failed', 'waiting', 'running']) if (steps.some((s) => s.status === state)) return state;
  if (steps.every((s) => s.status === 'done')) return steps.every((s) => s.unchanged) ? 'unchanged' : 'done';
  if (steps.some((s) => s.status === 'skipped')) return 'skipped';
  return 'pending';
}

// folded draws the stacks of a folder as one, if there are too many.
function folded(stacks) {
  if (stacks.length <= most) return stacks;
  const folder = (name) => (name.includes('/') ? `${name.slice(0, name.lastIndexOf('/'))}/` : name);
  const all = new Map();
  for (const s of stacks) {
    const name = folder(s.name);
    const f = all.get(name) || { name, steps: [], needs: new Set(), critical: false, count: 0 };
    all.set(name, f);
    f.count++;
    f.steps.push(...s.steps);
    f.critical ||= s.critical;
    for (const n of s.needs) if (folder(n) !== name) f.needs.add(folder(n));
  }
  for (const f of all.values()) f.state = stateOf(f.steps);
  return [...all.values()];
}

const label = (s) => (s.count ? `${s.name} (${s.count})` : s.name);
const widthOf = (s) => Math.min(260, 44 + label(s).length * 7.1);

// useLayout lays the graph out in a worker, again only if its nodes or edges are others.
function useLayout(stacks) {
  const [placed, set] = useState(null);
  const key = useMemo(() => JSON.stringify(stacks.map((s) => [s.name, ...s.needs])), [stacks]);
  useEffect(() => {
    const worker = new Worker(new URL('./layout.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }) => set({ ...data, key });
    const known = new Set(stacks.map((s) => s.name));
    worker.postMessage({
      nodes: stacks.map((s) => ({ name: s.name, width: widthOf(s), height })),
      edges: stacks.flatMap((s) => [...s.needs].filter((n) => known.has(n)).map((n) => [n, s.name])),
    });
    return () => worker.terminate();
  }, [key]);
  return placed && placed.key === key ? placed : null;
}

// line is a smooth path through the points of an edge.
function line(points) {
  const [first, ...rest] = points;
  let d = `M${first[0]} ${first[1]}`;
  for (let i = 0; i < rest.length; i++) {
    const from = points[i];
    const to = rest[i];
    const middle = (from[0] + to[0]) / 2;
    d += `C${middle} ${from[1]} ${middle} ${to[1]} ${to[0]} ${to[1]}`;
  }
  return d;
}

// neighbours are all stacks that a stack needs, directly or not, and those that need it.
function neighbours(stacks, name) {
  const needs = new Map(stacks.map((s) => [s.name, [...s.needs]]));
  const users = new Map();
  for (const [s, all] of needs) for (const n of all) users.set(n, [...(users.get(n) || []), s]);
  const found = new Set([name]);
  for (const edges of [needs, users]) {
    const rest = [name];
    for (let at; (at = rest.pop()) !== undefined; ) for (const n of edges.get(at) || []) if (!found.has(n)) { found.add(n); rest.push(n); }
  }
  return found;
}

function Node({ stack, at, width, faint, chosen, choose }) {
  const doing = stack.steps.find((s) => s.status === 'running') || stack.steps.find((s) => s.status === 'failed') || stack.steps[stack.steps.length - 1];
  const press = (e) => {
    if (e.key === 'Enter' || e.key === ' ') {
      e.preventDefault();
      choose(stack.name);
    }
  };
  return h('g', {
    class: `node ${toneOf(stack.state)} ${stack.critical ? 'critical' : ''} ${faint ? 'faint' : ''} ${chosen ? 'chosen' : ''}`,
    transform: `translate(${at.x - width / 2} ${at.y - height / 2})`, tabIndex: 0, role: 'button', 'aria-pressed': chosen,
    'aria-label': `${label(stack)}: ${stack.state}`, onClick: () => choose(stack.name), onKeyDown: press,
  },
  h('title', null, `${stack.name}: ${doing ? doing.verb : ''} ${stack.state}${doing && doing.why ? `\n${doing.why}` : ''}`),
  h('rect', { width, height, rx: 7 }), h('circle', { cx: 16, cy: height / 2, r: 5 }),
  h('text', { x: 28, y: height / 2 + 4 }, label(stack).length > 31 ? `…${label(stack).slice(-30)}` : label(stack)));
}

// first is the stack that a person should see first.
function first(stacks) {
  for (const state of ['failed', 'waiting', 'running']) {
    const found = stacks.find((s) => s.state === state);
    if (found) return found;
  }
  return stacks.find((s) => s.critical) || stacks[0];
}

// Graph draws the stacks, in a box that scrolls: at first to the stack that a person should see first. The pointer or the keyboard chooses the stack whose neighbours are shown.
export function Graph({ stacks: given, chosen, choose, filter = '' }) {
  const stacks = useMemo(() => folded(given), [given]);
  const placed = useLayout(stacks);
  const box = useRef(null);
  const [zoom, set] = useState(0); // that the person has chosen; 0 is as large as can be read
  useLayoutEffect(() => {
    const start = placed && first(stacks);
    const at = start && placed.nodes[start.name];
    if (!at) return;
    const { clientWidth: w, clientHeight: t, scrollWidth, scrollHeight } = box.current;
    box.current.scrollTo((at.x * scrollWidth) / placed.width - w / 2, ((at.y + 20) * scrollHeight) / (placed.height + 40) - t / 2);
  }, [placed]);
  if (!placed) return h(Wait);
  const room = box.current ? box.current.clientWidth : 1100;
  const scale = zoom || Math.min(1.15, Math.max(0.7, room / placed.width));
  const near = chosen ? neighbours(stacks, chosen) : null;
  const shown = (name) => (!near || near.has(name)) && name.toLowerCase().includes(filter.toLowerCase());
  const byName = new Map(stacks.map((s) => [s.name, s]));
  // resize keeps what is in the middle of the box there.
  const resize = (next) => {
    const { clientWidth: w, clientHeight: t, scrollLeft: x, scrollTop: y } = box.current;
    set(next);
    requestAnimationFrame(() => box.current.scrollTo(((x + w / 2) * next) / scale - w / 2, ((y + t / 2) * next) / scale - t / 2));
  };
  const all = () => {
    choose(null);
    set(Math.min(1.15, room / placed.width, 640 / placed.height));
  };
  return h('div', { class: 'graph' },
    h('div', { class: 'tools' },
      h('button', { type: 'button', class: 'small', onClick: () => resize(Math.min(3, scale * 1.4)), 'aria-label': 'Enlarge' }, '+'),
      h('button', { type: 'button', class: 'small', onClick: () => resize(Math.max(0.05, scale / 1.4)), 'aria-label': 'Reduce' }, '−'),
      h('button', { type: 'button', class: 'small', onClick: all }, 'Show all')),
    h('div', { class: 'box', ref: box, tabIndex: 0, role: 'group', 'aria-label': `${stacks.length} stacks and what they depend on` },
      h('svg', { viewBox: `0 -20 ${placed.width} ${placed.height + 40}`, width: placed.width * scale, height: (placed.height + 40) * scale, role: 'presentation' },
        placed.edges.map((e) => h('path', {
          d: line(e.points), class: `edge ${byName.get(e.from)?.critical && byName.get(e.to)?.critical ? 'critical' : ''} ${shown(e.from) && shown(e.to) ? '' : 'faint'}`,
        })),
        stacks.map((s) => placed.nodes[s.name] && h(Node, {
          key: s.name, stack: s, at: placed.nodes[s.name], width: widthOf(s), faint: !shown(s.name), chosen: chosen === s.name, choose,
        })))));
}
