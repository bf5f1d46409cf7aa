// The audit log: who requested which change, of a project or of all.
import { get, projectPath, useLive } from './api.js';
import { h, Empty, Refused, State, Time, Wait, runLink } from './parts.js';
import { useEffect, useState } from './lib/hooks.js';

function Entry({ e, all }) {
  return h('tr', null,
    h('td', null, h(Time, { at: e.time })),
    all && h('td', null, e.project ? h('a', { href: `#/${encodeURIComponent(e.project)}` }, e.project) : h('span', { class: 'quiet' }, 'installation')),
    h('td', null, e.run ? h('a', { href: runLink(e.project, e.run) }, e.what) : e.what, e.force && ' (forced)', e.skip && `, skips ${e.skip}`, e.why && h('small', null, e.why), e.messages && e.messages.map((m) => h('small', null, m))),
    h('td', null, e.state && h(State, { state: e.state })),
    h('td', { class: 'who' }, e.schedule ? `schedule ${e.schedule}` : e.who),
    h('td', null, e.from ? h('code', null, e.from) : h('span', { class: 'quiet' }, 'not known')));
}

// Audit shows the newest changes and, if somebody asks for them, older ones. Without a project it shows those of all.
export function Audit({ project }) {
  const path = project ? `${projectPath(project)}/audit` : '/audit';
  const { data, error } = useLive(() => get(`${path}?limit=50`), () => 10000, path);
  const [older, keep] = useState({ entries: [] });
  const [refused, refuse] = useState(null);
  useEffect(() => keep({ entries: [] }), [path]);
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  const next = older.entries.length ? older.before : data.before;
  const more = async () => {
    try {
      const page = await get(`${path}?limit=50&before=${encodeURIComponent(next)}`);
      keep((was) => ({ entries: was.entries.concat(page.entries), before: page.before }));
      refuse(null);
    } catch (problem) {
      refuse(problem);
    }
  };
  // An entry that has moved to a later page since is on both.
  const seen = new Set();
  const entries = [...data.entries, ...older.entries].filter((e) => {
    const id = [e.time, e.run, e.what, e.who].join(' ');
    return !seen.has(id) && seen.add(id);
  });
  if (!entries.length) return h(Empty, { title: 'No change yet' });
  return h('div', { class: 'audit' },
    h('table', null,
      h('thead', null, h('tr', null, ['When', !project && 'Project', 'What', 'State', 'By', 'From'].filter(Boolean).map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, entries.map((e) => h(Entry, { e, all: !project })))),
    refused && h(Refused, { error: refused }),
    next && h('button', { type: 'button', onClick: more }, 'Show older changes'));
}

// AuditOfAll is the view of the audit log of all projects.
export function AuditOfAll() {
  return h('div', null, h('h1', null, 'Audit log'), h('p', { class: 'quiet' }, 'Who requested which change, in the projects that you may read. An admin of all projects also sees changes of targets, of the access file and of policies.'), h(Audit, {}));
}
