// The revisions of an environment, and what differs between any two.
import { useEffect, useState } from './lib/hooks.js';
import { get, projectPath, readDifference, useLive } from './api.js';
import { h, Copy, Empty, Panel, Refused, State, Time, Wait, runLink } from './parts.js';

const verbs = { added: 'add', removed: 'remove', changed: 'modify' };

function Verb({ change }) {
  return h('span', { class: `verb ${verbs[change]}` }, change);
}

function Named({ title, all }) {
  if (!all || !all.length) return null;
  return h('li', null, h('small', null, title), all.map((c) => h('span', { class: 'named' }, h(Verb, { change: c.change }), c.name)));
}

// Text shows a difference in the unified format: added lines and removed lines are marked by their first letter, too.
function Text({ text }) {
  return h('pre', { class: 'diff', tabIndex: 0, role: 'region', 'aria-label': 'Difference of the templates' }, text.replace(/\n$/, '').split('\n').map((line) =>
    h(line[0] === '+' ? 'ins' : line[0] === '-' ? 'del' : 'span', null, `${line}\n`)));
}

function Difference({ project, from, to }) {
  const [state, set] = useState({});
  useEffect(() => {
    let over = false;
    set({});
    readDifference(project, from, to).then((data) => over || set({ data }), (error) => over || set({ error }));
    return () => { over = true; };
  }, [from, to]);
  const { data, error } = state;
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  return h('section', { class: 'difference', 'aria-label': 'Differences' },
    h('h2', null, 'From ', h('span', { class: 'id' }, from), ' to ', h('span', { class: 'id' }, to)),
    (data.messages || []).length > 0 && h(Panel, { tone: 'wait', title: 'Only files are compared' }, data.messages.map((m) => h('p', null, m))),
    data.files.length + data.stacks.length === 0 && h('p', null, 'The files are the same.'),
    data.stacks.length > 0 && h('div', { class: 'change' }, h('h2', null, 'Stacks'), h('ul', null, data.stacks.map((s) => h('li', { key: s.stack, class: 'resource' },
      h('p', null, h(Verb, { change: s.change }), h('b', null, s.stack), s.template && h('small', null, 'another template'), (s.other || []).length > 0 && h('small', null, s.other.join(', '))),
      h('ul', null, h(Named, { title: 'Parameters', all: s.parameters }), h(Named, { title: 'Tags', all: s.tags })))))),
    data.templates.map((t) => h('details', { class: 'change', key: t.before + t.after, open: data.templates.length <= 3 },
      h('summary', null, h('b', null, 'Template of ', t.stacks.join(', ')), h('small', { class: 'id' }, `${t.before.slice(0, 12)} → ${t.after.slice(0, 12)}`)),
      t.text ? h(Text, { text: t.text }) : h('p', { class: 'why' }, t.omitted || 'The texts are the same.'))),
    data.files.length > 0 && h('div', { class: 'change' }, h('h2', null, 'Files'), h('ul', null, data.files.map((f) => h('li', { key: f.name }, h(Verb, { change: f.change }), f.name)))));
}

export function Revisions({ project }) {
  const [older, add] = useState({ all: [] });
  const [chosen, choose] = useState('');
  const [chosenLater, chooseLater] = useState('');
  const { data, error } = useLive(() => get(`${projectPath(project)}/revisions?limit=50`), () => 5000, project);
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  const known = new Set(data.revisions.map((r) => r.key + r.version));
  const all = data.revisions.concat(older.all.filter((r) => !known.has(r.key + r.version)));
  const next = older.read ? older.before : data.before;
  const more = async () => {
    try {
      const page = await get(`${projectPath(project)}/revisions?limit=50&before=${encodeURIComponent(next)}`);
      add({ all: older.all.concat(page.revisions), before: page.before, read: true });
    } catch (refused) {
      add({ ...older, refused });
    }
  };
  const [later, earlier] = [chosenLater || (all[0] || {}).run, chosen || (all[1] || {}).run];
  const side = (label, at, choose) => h('label', null, label, h('select', { value: at, onChange: (e) => choose(e.currentTarget.value) },
    h('option', { value: '' }, 'Choose a run'), all.map((r) => h('option', { value: r.run }, `${new Date(r.requested).toLocaleString()} · ${r.run}${r.current ? ' · current' : ''}`))));
  if (!all.length && !next) return h(Empty, { title: 'No revision yet' }, h('p', null, 'Each configuration that a run has deployed is one.'));
  return h('div', { class: 'revisions' },
    all.length > 1 && h('div', { class: 'sides' }, side('Differences between', earlier, choose), side('and', later, chooseLater)),
    h('table', null,
      h('thead', null, h('tr', null, ['Run', 'By', 'When', 'Configuration'].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, all.map((r) => h('tr', { key: r.key + r.version },
        h('td', null, h(State, { state: r.state }), ' ', h('a', { href: runLink(project, r.run) }, `${r.operation} ${r.run}`), r.current && h('small', null, 'current: the last successful deploy of all stacks')),
        h('td', { class: 'who' }, r.who),
        h('td', null, h(Time, { at: r.requested })),
        h('td', null, h('code', null, r.key), h('small', null, r.version), h(Copy, { text: `${r.key} ${r.version}` })))))),
    next && h('div', { class: 'buttons' }, h('button', { type: 'button', onClick: more }, 'Show older')),
    h(Refused, { error: older.refused }),
    all.length > 1 && h(Difference, { project, from: earlier, to: later }));
}
