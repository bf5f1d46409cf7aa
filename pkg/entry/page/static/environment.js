// An environment of a project: its runs, its stacks and its schedules.
import { allPages, get, projectPath, useLive } from './api.js';
import { h, Copy, Empty, Refused, State, Tabs, Time, Took, Wait, runLink } from './parts.js';
import { Events, History, Resources } from './inside.js';
import { Audit } from './audit.js';
import { Revisions } from './revisions.js';
import { useState } from './lib/hooks.js';

function Runs({ project }) {
  const { data, error } = useLive(() => get(`${projectPath(project)}/runs?limit=50`), (d) => (d.runs.some((r) => !r.ended) ? 1500 : 5000), project);
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  if (!data.runs.length) return h(Empty, { title: 'No run yet' });
  return h('table', null,
    h('thead', null, h('tr', null, ['State', 'Operation', 'Requested', 'By', 'Took'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', null, data.runs.map((r) => h('tr', null,
      h('td', null, h(State, { state: r.state })),
      h('td', null, h('a', { href: runLink(project, r.run) }, r.operation), r.reason && h('small', null, r.reason)),
      h('td', null, h(Time, { at: r.requested })),
      h('td', { class: 'who' }, r.schedule ? `schedule ${r.schedule}` : r.by),
      h('td', { class: 'number' }, h(Took, { from: r.started, to: r.ended }))))));
}

function Outputs({ outputs }) {
  const all = Object.entries(outputs || {});
  if (!all.length) return h('span', { class: 'quiet' }, 'no outputs');
  return h('details', null, h('summary', null, all.length === 1 ? '1 output' : `${all.length} outputs`),
    h('dl', null, all.map(([name, value]) => [h('dt', null, name), h('dd', null, h('code', null, value), h(Copy, { text: value }))])));
}

function Stacks({ project }) {
  const { data, error } = useLive(() => allPages(`${projectPath(project)}/stacks`, 'stacks', 'after'), () => 5000, project);
  const [words, find] = useState('');
  const [chosen, choose] = useState(null);
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  if (!data.length) return h(Empty, { title: 'No stack yet' });
  const shown = data.filter((s) => `${s.stack} ${s.name}`.toLowerCase().includes(words.toLowerCase()));
  return h('div', null,
    h('label', { class: 'find' }, 'Find a stack', h('input', { type: 'search', value: words, onInput: (e) => find(e.target.value) }),
      h('span', { role: 'status' }, `${shown.length} of ${data.length}`)),
    h('table', null,
      h('thead', null, h('tr', null, ['Stack', 'Account and region', 'Changed', 'Outputs', 'More'].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, shown.slice(0, 500).map((s) => [h('tr', { key: s.stack },
        h('td', null, s.stack, h('small', null, s.name)),
        h('td', null, s.target.account, h('small', null, s.target.region)),
        h('td', null, s.changed ? h(Time, { at: s.changed }) : h('span', { class: 'quiet' }, s.changing ? 'being created' : 'not created yet'),
          s.changed && s.changing && h('small', null, 'being changed')),
        h('td', null, h(Outputs, { outputs: s.outputs })),
        h('td', null, h('button', {
          type: 'button', class: 'small', 'aria-expanded': String(s.stack === chosen), 'aria-label': `${s.stack === chosen ? 'Close the details' : 'Details'} of ${s.stack}`, onClick: () => choose(s.stack === chosen ? null : s.stack),
        }, s.stack === chosen ? 'Close' : 'Details'))),
      s.stack === chosen && h('tr', { key: `${s.stack} inside`, class: 'inside' }, h('td', { colSpan: 5 },
        h(Resources, { project, stack: s.stack }), h(History, { project, stack: s.stack }), h(Events, { project, stack: s.stack })))]))),
    shown.length > 500 && h('p', null, `The first 500 of ${shown.length} stacks are shown: write a part of the name to find others.`));
}

// Next shows when a schedule runs next, and its next times.
function Next({ of: { disabled, next = [] } }) {
  if (disabled) return 'disabled';
  if (!next.length) return 'does not run again';
  const shown = next.map((at) => new Date(at).toLocaleString());
  return h('details', null, h('summary', null, shown[0]), h('ol', null, shown.slice(1).map((at) => h('li', null, at))));
}

function Schedules({ project }) {
  const { data, error } = useLive(() => get(`${projectPath(project)}/schedules`), () => 15000, project);
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  const all = data.schedules || [];
  if (!all.length) return h(Empty, { title: 'No schedule' }, h('p', null, 'A project file can have schedules, such as a refresh each night.'));
  return h('table', null,
    h('thead', null, h('tr', null, ['Schedule', 'Operation', 'When', 'Next'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', null, all.map((s) => h('tr', null, h('td', null, s.schedule), h('td', null, s.operation),
      h('td', null, h('code', null, s.expression), ' ', s.time_zone), h('td', null, h(Next, { of: s }))))));
}

function Lock({ project }) {
  const { data } = useLive(() => get(`${projectPath(project)}/lock`), () => 3000, project);
  if (!data || !data.owner || !data.owner.run) return null;
  const next = data.waiting || [];
  return h('p', { class: 'lock' }, 'Run ', h('a', { href: runLink(project, data.owner.run) }, data.owner.run), ' holds the lock',
    next.length > 0 && [`; ${next.length} queued: `, next.map((w, i) => [i > 0 && ', ', h('a', { href: runLink(project, w.run) }, w.run)])], '.');
}

function Access({ project }) {
  const { data, error } = useLive(() => get(`${projectPath(project)}/access`), () => 15000, project);
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  const all = data.grants || [];
  return h('div', null,
    h('p', null, 'You are ', h('code', null, data.caller), ', with the role ', h('strong', null, data.role), '.'),
    data.why && h('p', { class: 'quiet' }, data.why[0].toUpperCase() + data.why.slice(1), '.'),
    data.role !== 'admin' && h('p', { class: 'quiet' }, 'An admin of the project sees who else has a role.'),
    all.length > 0 && h('table', null,
      h('thead', null, h('tr', null, ['Role', 'Who', 'Granted by'].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, all.map((g) => h('tr', null, h('td', null, g.role), h('td', { class: 'who' }, g.to), h('td', null, g.granted_by === 'owner' ? 'owner of the installation' : g.granted_by))))));
}

const parts = [['', 'Runs', Runs], ['stacks', 'Stacks', Stacks], ['revisions', 'Revisions', Revisions], ['schedules', 'Schedules', Schedules], ['audit', 'Audit', Audit], ['access', 'Access', Access]];

export function Environment({ project, part }) {
  const [, , View] = parts.find(([id]) => id === part) || parts[0];
  const [name, environment] = project.split('@');
  return h('div', null,
    h('h1', null, name, environment && h('span', { class: 'env' }, environment)),
    h(Lock, { project }),
    h(Tabs, { at: part, all: parts.map(([id, label]) => ({ id, label, href: `#/${encodeURIComponent(project)}${id && '/' + id}` })) }),
    h(View, { project }));
}
