// A plan: what a run would change, and the answer of a person.
import { useEffect, useState } from './lib/hooks.js';
import { changed, get, post, runPath } from './api.js';
import { h, Ask, Empty, Panel, Refused, Wait, span } from './parts.js';

const names = { create: 'create', update: 'update', replace: 'replace', delete: 'delete', adopt: 'adopt', import: 'import', forget: 'forget', revert: 'bring back what has drifted in', suspend: 'suspend', resume: 'resume', level: 'change the approval of', retain: 'change what a deletion retains of', hooks: 'call hooks of' };

// Summary counts what the plan changes, the dangerous changes first.
function Summary({ of }) {
  const counts = ['replace', 'delete', 'create', 'update', 'adopt', 'import', 'forget', 'revert', 'suspend', 'resume', 'hooks', 'level', 'retain', 'unchanged'];
  return h('ul', { class: 'summary' },
    of.data_loss > 0 && h('li', { class: 'bad' }, h('b', null, of.data_loss), ' lose data'),
    of.possible_data_loss > 0 && h('li', { class: 'bad' }, h('b', null, of.possible_data_loss), ' may lose data'),
    of.unknown_data_loss > 0 && h('li', { class: 'wait' }, h('b', null, of.unknown_data_loss), ' may lose data that the plan does not know'),
    of.resources_replaced > 0 && h('li', { class: 'wait' }, h('b', null, of.resources_replaced), ' resources replaced'),
    counts.map((k) => of[k] > 0 && h('li', { class: k === 'delete' ? 'bad' : k === 'replace' ? 'wait' : '' }, h('b', null, of[k]), ' ', k)),
    of.possible > 0 && h('li', null, h('b', null, of.possible), ' may change'));
}

// dollars writes an amount with its sign.
const dollars = (n) => `${n < 0 ? '-' : '+'}$${Math.abs(n).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

// Cost says what the plan adds a month, as far as that is known.
function Cost({ of }) {
  if (!of || (!of.before && !of.after && !of.unknown && !of.uncompared)) return null;
  const without = [of.unknown > 0 && `${of.unknown} without a known price`, of.by_use > 0 && `${of.by_use} charged by use`, of.uncompared > 0 && `${of.uncompared} stacks not compared`].filter(Boolean);
  return h('p', { class: 'quiet', title: of.basis }, `Cost: ${of.before || of.after ? `${dollars(of.difference)} a month, an estimate` : 'not known'}${without.length ? `; ${without.join(', ')}` : ''}.`);
}

function Value({ text, secret, none }) {
  if (secret) return h('em', null, 'secret');
  if (text === undefined || text === null || text === '') return h('em', null, none || 'none');
  return h('code', null, text);
}

function Values({ title, all }) {
  if (!all || !all.length) return null;
  return h('div', { class: 'values' }, h('h2', null, title),
    h('table', null, h('tbody', null, all.map((v) => h('tr', null, h('th', { scope: 'row' }, v.name),
      h('td', null, h('del', null, h(Value, { text: v.before, secret: v.secret }))),
      h('td', null, h('ins', null, h(Value, { text: v.after, secret: v.secret }), v.why && h('small', null, v.why))))))));
}

function Resource({ r }) {
  const danger = r.data_loss || r.possible_data_loss;
  const action = r.possible ? `may ${r.action}` : r.action;
  return h('li', { class: `resource ${danger || r.action === 'remove' ? 'bad' : r.action === 'replace' ? 'wait' : ''}` },
    h('p', null, h('span', { class: `verb ${r.action}` }, action), h('b', null, r.id), h('small', null, r.type), r.construct && h('small', null, r.construct),
      danger && h('strong', { class: 'loss' }, r.data_loss ? 'data is lost' : 'data may be lost', r.loses && `: ${r.loses}`),
      r.policy && h('small', null, `kept by ${r.policy}`), r.refused && h('strong', { class: 'loss' }, `refused: ${r.refused}`),
      (r.moved_from || r.moved_to) && h('small', null, r.moved_from ? `from ${r.moved_from}` : `to ${r.moved_to}`)),
    r.properties && r.properties.length > 0 && h('table', null, h('tbody', null, r.properties.map((p) => h('tr', null,
      h('th', { scope: 'row' }, p.path, p.replacement && p.replacement !== 'never' && h('strong', { class: 'loss' }, p.replacement === 'always' ? 'replaces' : 'may replace')),
      h('td', null, h('del', null, h(Value, { text: p.before, secret: p.secret }))),
      h('td', null, h('ins', null, h(Value, { text: p.after, secret: p.secret }), p.because && h('small', null, p.because))))))));
}

// Suspension is what a suspend would stop in a stack, or a resume would start, and what stays as it is.
function Suspension({ of, action }) {
  if (!of) return null;
  return h('ul', { class: 'suspension' },
    of.resources.map((r) => h('li', null, h('span', { class: `verb ${action}` }, action === 'suspend' ? 'stop' : 'start'), h('b', null, r.id), h('small', null, `${r.kind}, which is ${r.is}`))),
    of.stay.map((r) => h('li', null, h('span', { class: 'verb' }, 'stays as it is'), h('b', null, r.id), h('small', null, `${r.kind}: ${r.why}`))));
}

// useSeen remembers, in this browser, which stacks of a plan a person has marked as read.
function useSeen(digest) {
  const key = `seen ${digest}`;
  const [seen, set] = useState(new Set());
  useEffect(() => set(new Set(JSON.parse(localStorage.getItem(key) || '[]'))), [key]);
  const mark = (stack) => {
    const next = new Set(seen);
    if (!next.delete(stack)) next.add(stack);
    localStorage.setItem(key, JSON.stringify([...next]));
    set(next);
  };
  return [seen, mark];
}

// idle reports whether a suspend would stop nothing in a stack.
const idle = (s) => s.action === 'suspend' && s.suspension && !s.suspension.resources.length && !(s.hooks || []).length;

// doing says what a run does with a stack.
const doing = (s) => idle(s) ? 'stays as it is:' : (s.certainty === 'possible' ? `may ${names[s.action] || s.action}` : names[s.action] || s.action);

// risky reports whether a person has to read what happens to a stack.
const risky = (s) => Boolean(s.data_loss || s.possible_data_loss || s.replaces || s.action === 'delete');

function Stack({ s, open, seen, mark }) {
  const danger = s.data_loss || s.possible_data_loss || s.action === 'delete';
  return h('details', { class: `change ${danger ? 'bad' : s.replaces ? 'wait' : ''}`, open },
    h('summary', null, h('span', { class: `verb ${s.action}` }, doing(s)), h('b', null, s.stack),
      h('small', null, s.name), s.data_loss && h('strong', { class: 'loss' }, 'data is lost'), !s.data_loss && s.possible_data_loss && h('strong', { class: 'loss' }, 'data may be lost'),
      s.replaces && h('strong', { class: 'loss' }, 'replaces resources'), h('span', { class: 'how' }, s.suspension ? 'as it is now' : s.exact ? 'as its change set says' : 'estimated from the templates')),
    [...(s.reasons || []), ...(s.caveats || []), ...(s.warnings || []), ...(s.disagreements || [])].map((text) => h('p', { class: 'why' }, text)),
    h(Suspension, { of: s.suspension, action: s.action }),
    h(Values, { title: 'Parameters', all: s.parameters }), h(Values, { title: 'Tags', all: s.tags }), h(Values, { title: 'Options', all: s.options }),
    s.resources && s.resources.length > 0 && h('div', null, h('h2', null, 'Resources'), h('ul', { class: 'resources' }, s.resources.map((r) => h(Resource, { r })))),
    s.outputs && s.outputs.length > 0 && h('div', null, h('h2', null, 'Outputs'), h('ul', null, s.outputs.map((o) => h('li', null, h('span', { class: `verb ${o.action}` }, o.action), o.name, o.why && h('small', null, o.why), o.refused && h('strong', { class: 'loss' }, o.refused))))),
    s.hooks && s.hooks.length > 0 && h('div', null, h('h2', null, 'Hooks'), h('ul', null, s.hooks.map((k) => h('li', null, `${k.moment}: ${k.name}`, h('small', null, `${k.type} ${k.calls || ''}`))))),
    h('label', { class: 'seen' }, h('input', { type: 'checkbox', checked: seen, onChange: () => mark(s.stack) }), 'I have read this'));
}

const many = 20; // stacks to which the same happens: more are one line that opens

// Same are many stacks to which the same happens. They are drawn when the line is open.
function Same({ stacks, draw }) {
  const [open, set] = useState(false);
  return h('details', { class: 'change', open, onToggle: (e) => e.target === e.currentTarget && set(e.currentTarget.open) },
    h('summary', null, h('span', { class: `verb ${stacks[0].action}` }, doing(stacks[0])), h('b', null, `${stacks.length} stacks`),
      h('small', null, `${stacks.slice(0, 3).map((s) => s.stack).join(', ')}, …`)),
    open && stacks.map(draw));
}

// several is the stack of a target, or nothing if the stack has only one.
const several = (name) => (name.includes('@') ? name.slice(0, name.indexOf('@')) : '');

const manyTargets = 5; // targets of one stack: more are one line that opens

// Targets are the targets of one stack with many, without the risky ones. They are drawn when the line is open.
function Targets({ of, stacks, draw }) {
  const [open, set] = useState(false);
  const words = [...Object.entries(of.actions || {}).map(([what, n]) => `${n} ${names[what] || what}`), of.possible && `${of.possible} may change`, of.unchanged && `${of.unchanged} unchanged`].filter(Boolean);
  return h('details', { class: 'change', open, onToggle: (e) => e.target === e.currentTarget && set(e.currentTarget.open) },
    h('summary', null, h('b', null, of.stack), ` ${of.targets} targets: ${words.join(', ')}`,
      of.waves && h('small', null, `in ${of.waves.length} waves: ${of.waves.join(', ')}`)),
    open && stacks.map(draw));
}

// listed draws the stacks: the risky ones first, many targets of one stack as one line, and many to which the same happens as one line.
function listed(all, draw, targets = []) {
  const wide = targets.filter((t) => t.targets - (t.unchanged || 0) > manyTargets);
  const lines = wide.map((t) => h(Targets, { key: `targets ${t.stack}`, of: t, stacks: all.filter((s) => several(s.stack) === t.stack && !risky(s)), draw }));
  const stacks = all.filter((s) => risky(s) || !wide.some((t) => t.stack === several(s.stack)));
  const rest = new Map();
  for (const s of stacks.filter((s) => !risky(s))) {
    if (!rest.has(doing(s))) rest.set(doing(s), []);
    rest.get(doing(s)).push(s);
  }
  return [
    ...stacks.filter(risky).map(draw),
    ...lines,
    ...[...rest].map(([what, all]) => (all.length > many ? h(Same, { key: `all ${what}`, stacks: all, draw }) : all.map(draw))),
  ];
}

// Approval asks for an answer, if the run waits for one.
export function Approval({ run }) {
  const [ask, set] = useState(null);
  const [error, fail] = useState(null);
  const steps = (run.steps || []).filter((s) => s.status === 'waiting');
  if (run.state !== 'waiting' || !steps.length) return null;
  const give = (verb, step) => async (reason) => {
    set(null);
    if (reason === undefined) return;
    try {
      await post(runPath(run.project, run.run, `/${verb}`), { plan_digest: step.digest || run.digest, step: step.step, reason });
      fail(null);
      changed();
    } catch (e) {
      fail(e);
    }
  };
  return h('section', { class: 'panel wait approval' },
    h('h2', null, 'Waiting for your answer'), h(Refused, { error }),
    steps.map((s) => h('div', { class: 'question' },
      h('p', null, h('b', null, s.stack || 'The whole plan'), ' ', s.why),
      h('p', { class: 'digest' }, 'digest ', h('code', null, (s.digest || run.digest || '').slice(0, 12)), s.deadline && ` · until ${new Date(s.deadline).toLocaleString()}`),
      h('div', { class: 'buttons' },
        h('button', { type: 'button', class: 'danger', onClick: () => set({ verb: 'reject', step: s }) }, 'Reject…'),
        h('button', { type: 'button', class: 'primary', onClick: () => set({ verb: 'approve', step: s }) }, 'Approve…')))),
    ask && h(Ask, {
      title: ask.verb === 'approve' ? 'Approve' : 'Reject', danger: ask.verb === 'reject', action: ask.verb === 'approve' ? 'Approve' : 'Reject',
      text: `${ask.step.step} of run ${run.run}, with the digest ${(ask.step.digest || run.digest || '').slice(0, 12)}.`, done: give(ask.verb, ask.step),
    }));
}

// Snapshots are those that a plan deletes, and those that stay.
function Snapshots({ all }) {
  return h('ul', { class: 'resources' }, all.map((s) => h('li', { class: `resource ${s.deleted ? 'bad' : ''}` },
    h('p', null, h('span', { class: `verb ${s.deleted ? 'delete' : ''}` }, s.deleted ? 'delete' : 'stays'), h('b', null, `snapshot ${s.snapshot}`), h('small', null, new Date(s.made).toLocaleString())),
    (s.reasons || []).map((why) => h('p', { class: 'why' }, why)),
    s.backups.length > 0 && h('ul', null, s.backups.map((b) => h('li', null, h('span', { class: `verb ${b.deleted ? 'delete' : ''}` }, b.deleted ? 'delete' : 'stays'), `${b.stack}.${b.resource}`, h('small', null, `backup of a ${b.kind}: ${b.arn}`)))))));
}

// What a selection adds to a plan and leaves out, and why.
function Selection({ of }) {
  const lines = (what, all = []) => [
    ...all.slice(0, 10).map((s) => h('li', null, `${what}: ${s.stack} (${s.why})`)),
    all.length > 10 && h('li', null, `${what}: ${all.length - 10} more`),
  ];
  return h('ul', { class: 'quiet' }, lines('added', of.added), lines('left out', of.left_out),
    of.others > 0 && h('li', null, `left out: ${of.others} (not selected)`));
}

export function Plan({ run }) {
  const [state, set] = useState({});
  useEffect(() => {
    let over = false;
    get(runPath(run.project, run.run, '/plan')).then((data) => over || set({ data }), (error) => over || set({ error }));
    return () => { over = true; };
  }, [run.run, run.digest]);
  const { data, error } = state;
  const [seen, mark] = useSeen(run.digest);
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  const stacks = data.stacks || [];
  const draw = (s) => h(Stack, { key: s.stack, s, open: risky(s) || stacks.length <= 3, seen: seen.has(s.stack), mark });
  return h('div', { class: 'plan' },
    h(Approval, { run }),
    h(Summary, { of: data.summary || {} }),
    data.seconds > 0 && h('p', { class: 'quiet' }, `It takes about ${span(data.seconds)}.`),
    h(Cost, { of: data.cost }),
    (data.messages || []).map((m) => h('p', null, m)),
    data.selection && h(Selection, { of: data.selection }),
    (data.policies || []).length > 0 && h(Panel, { tone: 'wait', title: 'Policies' }, h('ul', null, data.policies.map((v) => h('li', null, h('b', null, v.level), ' ', v.message, h('small', null, [v.policy, v.stack, v.resource].filter(Boolean).join(' · ')))))),
    data.snapshots && h(Snapshots, { all: data.snapshots }),
    !stacks.length && !data.snapshots && h(Empty, { title: 'No stack changes' }),
    listed(stacks, draw, data.targets));
}
