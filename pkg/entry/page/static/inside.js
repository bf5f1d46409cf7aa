// What is in a stack, as CloudFormation says, read when a person asks for it.
import { useEffect, useState } from './lib/hooks.js';
import { get, projectPath } from './api.js';
import { h, Mark, Refused, State, Time, Took, Wait, runLink, toneOf } from './parts.js';

// stateOf is the state that a status of CloudFormation is drawn as. What was in progress at the time of an event need not be any more.
function stateOf(status, past) {
  if (status.includes('FAILED')) return 'failed';
  if (status.endsWith('IN_PROGRESS')) return past ? 'pending' : 'running';
  if (status.startsWith('DELETE') || status.includes('SKIPPED')) return 'skipped';
  return 'done';
}

function Status({ status, past }) {
  const state = stateOf(status, past);
  return h('span', { class: `state ${toneOf(state)}` }, h(Mark, { state }), status);
}

// A List is read once it is opened: page by page, as long as wants(all) says that the next page is needed, and then when a
// person asks for more.
function List({ label, path, name, wants = () => false, show }) {
  const [open, toggle] = useState(false);
  const [state, set] = useState({ all: [] });
  const more = async (known) => {
    set({ ...known, error: null, reading: true });
    try {
      let { all, after } = known;
      do {
        const page = await get(after ? `${path}&after=${encodeURIComponent(after)}` : path);
        all = all.concat(page[name]);
        after = page.after;
      } while (after && wants(all));
      set({ all, after, read: true });
    } catch (error) {
      set({ ...known, error, read: true });
    }
  };
  useEffect(() => {
    if (open && !state.read && !state.reading) more({ all: [] });
  }, [open]);
  return h('details', { class: 'list', onToggle: (e) => toggle(e.currentTarget.open) },
    h('summary', null, label),
    open && h('div', null,
      h(Refused, { error: state.error }),
      state.read && !state.error && show(state.all),
      state.reading ? h(Wait) : h('div', { class: 'buttons' },
        state.after && h('button', { type: 'button', class: 'small', onClick: () => more(state) }, 'Show more'),
        h('button', { type: 'button', class: 'small quiet', onClick: () => more({ all: [] }) }, 'Read again'))));
}

function pathOf(project, list, stack) {
  return `${projectPath(project)}/stacks/${list}?stack=${encodeURIComponent(stack)}`;
}

// Resources lists the resources of a stack.
export function Resources({ project, stack }) {
  return h(List, {
    label: 'Resources', path: pathOf(project, 'resources', stack), name: 'resources', show: (all) => (all.length ? h('table', null,
      h('thead', null, h('tr', null, ['Status', 'Resource', 'Changed'].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, all.map((r) => h('tr', { key: r.id },
        h('td', null, h(Status, { status: r.status }), r.reason && h('small', null, r.reason)),
        h('td', null, r.id, h('small', null, r.type), r.physical_id && h('code', null, r.physical_id)),
        h('td', null, h(Time, { at: r.changed })))))) : h('p', { class: 'quiet' }, 'The stack has no resources.')),
  });
}

// Events lists what CloudFormation says has happened to a stack and its resources: all of it, or between two moments.
export function Events({ project, stack, from, to, label = 'Events of CloudFormation' }) {
  const least = from ? new Date(from) - 1000 : 0;
  const most = to ? new Date(to).getTime() + 1000 : Infinity;
  const chosen = (all) => all.filter(({ time }) => new Date(time) >= least && new Date(time) <= most);
  return h(List, {
    label, path: pathOf(project, 'events', stack), name: 'events',
    wants: (all) => from && all.length > 0 && new Date(all[all.length - 1].time) >= least,
    show: (all) => (chosen(all).length ? h('table', null,
      h('thead', null, h('tr', null, ['When', 'Status', 'Resource', 'Reason'].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, chosen(all).map((e) => h('tr', { key: e.event },
        h('td', { class: 'number' }, h('time', { dateTime: e.time, title: new Date(e.time).toLocaleString() }, from ? new Date(e.time).toLocaleTimeString() : new Date(e.time).toLocaleString())),
        h('td', null, h(Status, { status: e.status, past: true }), e.hook && h('small', null, `hook ${e.hook}`)),
        h('td', null, e.id, h('small', null, e.type)),
        h('td', { class: 'why' }, e.reason || ''))))) : h('p', { class: 'quiet' }, 'CloudFormation has no events of this time: it keeps them for 90 days.')),
  });
}

// History lists what runs did to a stack.
export function History({ project, stack }) {
  return h(List, {
    label: 'History', path: pathOf(project, 'history', stack), name: 'steps', wants: (all) => all.length === 0,
    show: (all) => (all.length ? h('table', null,
      h('thead', null, h('tr', null, ['Ended', 'Result', 'What', 'By', 'Took'].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, all.map((s) => h('tr', { key: s.run + s.step },
        h('td', null, h(Time, { at: s.ended })),
        h('td', null, h(State, { state: s.status }), s.unchanged && h('small', null, 'nothing changed')),
        h('td', null, h('a', { href: runLink(project, s.run) }, `${s.verb} in ${s.operation}`), s.reason && h('small', null, s.reason), s.status === 'failed' && h('small', null, s.why),
          s.source && s.source.version && h('small', null, 'version ', h('code', null, s.source.version))),
        h('td', { class: 'who' }, s.schedule ? `schedule ${s.schedule}` : s.who),
        h('td', { class: 'number' }, h(Took, { from: s.started, to: s.ended })))))) : h('p', { class: 'quiet' }, 'No run has changed the stack in the last 90 days.')),
  });
}
