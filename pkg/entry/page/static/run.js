// A run: what it does now, what failed and why, and what to do.
import { useMemo, useState } from './lib/hooks.js';
import { changed, post, projectPath, readRun, runPath, useLive } from './api.js';
import { h, Ask, Copy, Empty, Panel, isPlan, Refused, State, Tabs, Time, Took, Wait, between, runLink, span, toneOf, useNow } from './parts.js';
import { Events } from './inside.js';
import { Graph, stacksOf } from './graph.js';
import { Timeline } from './timeline.js';
import { Approval, Plan } from './plan.js';

// consoleLink is the address of the events of a stack in the console of AWS. A laptop has none.
function consoleLink(step) {
  const [account, region] = (step.where || '').split('#');
  if (!region || /^0+$/.test(account)) return null;
  return `https://${region}.console.aws.amazon.com/cloudformation/home?region=${region}#/stacks?filteringText=${encodeURIComponent(step.stack)}`;
}

// rejected reports whether a person has rejected what the run would do.
const rejected = (run) => (run.steps || []).some((s) => s.answer && !s.answer.yes);

function Failures({ run }) {
  const failed = (run.steps || []).filter((s) => s.status === 'failed');
  const skipped = (run.steps || []).filter((s) => s.status === 'skipped').length;
  if (!failed.length && toneOf(run.state) !== 'bad') return null;
  return h(Panel, { tone: 'bad', title: failed.length ? `${failed.length === 1 ? 'A step' : `${failed.length} steps`} failed${skipped ? `, so ${skipped === 1 ? '1 was' : `${skipped} were`} skipped` : ''}` : `The run was ${run.state}` },
    failed.map((s) => h('div', { class: 'failure' },
      h('p', null, h('b', null, s.step), s.stack_status && h('small', null, s.stack_status), consoleLink(s) && h('a', { href: consoleLink(s), rel: 'noreferrer', target: '_blank' }, 'Events in the AWS console')),
      h('pre', null, s.why || 'no reason was given'),
      s.stack && s.started && h(Events, { project: run.project, stack: s.stack, from: s.started, to: s.ended, label: 'Resource events' }))),
    !failed.length && (run.messages || []).map((m) => h('p', null, m)),
    run.ended && failed.length > 0 && !rejected(run) && h('p', { class: 'todo' },
      'Is the cause in the files, change them and deploy them. Else remove it, then retry: the files are the same, and only what failed or was skipped is done again. ',
      h('code', null, `stackwright retry ${run.run}`), h(Copy, { text: `stackwright retry ${run.run}` })));
}

// What a person can do with a run, in its states.
const actions = [
  { verb: 'pause', label: 'Pause', on: (r) => !r.ended && r.command !== 'pause', text: 'Running steps end. No step starts until you continue.' },
  { verb: 'continue', label: 'Continue', on: (r) => !r.ended && r.command === 'pause' },
  { verb: 'cancel', label: 'Cancel', on: (r) => !r.ended, danger: true, text: 'Running steps end, and the other steps are skipped.' },
  { verb: 'retry', label: 'Retry', on: (r) => r.ended && ['failed', 'failed dirty', 'cancelled'].includes(r.state), text: 'What failed or was skipped is done again, with the same files, as a new run.' },
];

function Actions({ run }) {
  const [ask, set] = useState(null);
  const [error, fail] = useState(null);
  const give = (action) => async (reason) => {
    set(null);
    if (reason === undefined) return;
    try {
      if (action.verb === 'retry') {
        const made = await post(`${projectPath(run.project)}/runs`, { operation: 'retry', options: { run: run.run } });
        location.hash = runLink(run.project, made.run);
      } else {
        await post(runPath(run.project, run.run, `/${action.verb}`), reason ? { reason } : {});
        changed();
      }
      fail(null);
    } catch (e) {
      fail(e);
    }
  };
  return h('div', { class: 'actions' },
    h('div', { class: 'buttons' }, actions.filter((a) => a.on(run)).map((a) =>
      h('button', { type: 'button', class: a.danger ? 'danger' : '', onClick: () => set(a) }, `${a.label}…`))),
    h(Refused, { error }),
    ask && h(Ask, { title: `${ask.label} this run?`, text: ask.text, action: ask.label, danger: ask.danger, done: give(ask) }));
}

function Progress({ run }) {
  const now = useNow(!run.ended);
  const steps = run.steps || [];
  const count = (status) => steps.filter((s) => s.status === status).length;
  const [done, running, failed, skipped] = ['done', 'running', 'failed', 'skipped'].map(count);
  const part = (n) => ({ width: `${steps.length ? (n / steps.length) * 100 : 0}%` });
  return h('div', { class: 'progress' },
    h('div', { class: 'meter', role: 'progressbar', 'aria-label': 'Steps done', 'aria-valuemin': 0, 'aria-valuemax': steps.length, 'aria-valuenow': done },
      h('i', { class: 'good', style: part(done) }), h('i', { class: 'bad', style: part(failed) }), h('i', { class: 'calm', style: part(skipped) }), h('i', { class: 'busy', style: part(running) })),
    h('p', null, `${done} of ${steps.length} steps done`, running > 0 && `, ${running} running`, failed > 0 && `, ${failed} failed`, skipped > 0 && `, ${skipped} skipped`,
      run.unchanged > 0 && `, ${run.unchanged} ${run.unchanged === 1 ? 'stack' : 'stacks'} unchanged`,
      run.started && ` · ${span(between(run.started, run.ended || now))}`,
      !run.ended && run.expected_end && ` · about ${span((new Date(run.expected_end) - now) / 1000)} left`));
}

// Rollouts say how far each stack has come that is rolled out: one line each, which opens.
function Rollouts({ run }) {
  const parts = [['deployed', 'deployed'], ['in_progress', 'in progress'], ['failed', 'failed'], ['stopped', 'not finished'], ['not_started', 'not started']];
  const all = (run.rollouts || []).map((r) => ({ stack: r.stack, parts: parts.map(([key, word]) => [word, r[key] || []]).filter(([, names]) => names.length > 0) }));
  return all.length > 0 && h(Panel, { title: 'Rollouts' }, all.map((r) => h('details', { key: r.stack, class: 'rollout' },
    h('summary', null, h('b', null, r.stack), ` ${r.parts.reduce((n, [, names]) => n + names.length, 0)} targets: ${r.parts.map(([word, names]) => `${names.length} ${word}`).join(', ')}`),
    r.parts.map(([word, names]) => h('p', null, h('b', null, word), ` ${names.join(', ')}`)))));
}

function Steps({ steps }) {
  return h('table', null,
    h('thead', null, h('tr', null, ['State', 'Step', 'Why', 'Took'].map((t) => h('th', { scope: 'col' }, t)))),
    h('tbody', null, steps.slice(0, 1000).map((s) => h('tr', { key: s.step },
      h('td', null, h(State, { state: s.unchanged ? 'unchanged' : s.status })),
      h('td', null, s.step, h('small', null, s.where && s.where.replace('#', ' · '))),
      h('td', { class: 'why' }, s.why || (s.cause && s.cause.step ? `because of ${s.cause.step}` : ''), s.stack_status && h('small', null, s.stack_status)),
      h('td', { class: 'number' }, h(Took, { from: s.started, to: s.ended }))))));
}

function Log({ run }) {
  const all = [
    [run.requested, `requested by ${run.schedule ? `schedule ${run.schedule}` : run.by}${run.reason ? `: ${run.reason}` : ''}`],
    [run.started, 'started'],
    ...(run.steps || []).flatMap((s) => [[s.started, `${s.step} started`], [s.ended, `${s.step} ${s.status === 'done' ? 'done' : s.status}${s.why ? `: ${s.why}` : ''}`]]),
    ...(run.commands || []).map((c) => [c.given, `${c.command} by ${c.who}${c.reason ? `: ${c.reason}` : ''}`]),
    [run.ended, run.state],
  ].filter(([at]) => at).sort((a, b) => new Date(a[0]) - new Date(b[0]));
  return h('div', null,
    (run.messages || []).length > 0 && h(Panel, { title: 'Messages' }, run.messages.map((m) => h('p', null, m))),
    h('ol', { class: 'log' }, all.slice(-2000).map(([at, text]) => h('li', null, h('time', { dateTime: at }, new Date(at).toLocaleTimeString()), h('span', null, text)))));
}

function Stacks({ run }) {
  const stacks = useMemo(() => stacksOf(run), [run]);
  const [chosen, choose] = useState(null);
  const [words, find] = useState('');
  const of = stacks.find((s) => s.name === chosen);
  if (!stacks.length) return h(Empty, { title: run.ended ? 'No stack is part of this run' : 'No stack is planned yet' });
  return h('div', null,
    h('label', { class: 'find' }, 'Find a stack', h('input', { type: 'search', value: words, onInput: (e) => find(e.target.value) })),
    h(Graph, { stacks, chosen, choose: (name) => choose(name === chosen ? null : name), filter: words }),
    of && h('section', { class: 'chosen' }, h('h2', null, of.name), h(Steps, { steps: of.steps })));
}

// The parts of a run. A plan has no steps that happen; of a run that changes stacks, the API shows the plan while it waits for an answer.
const views = [['', 'Graph'], ['timeline', 'Timeline'], ['steps', 'Steps'], ['plan', 'Plan'], ['log', 'Log']];
function viewsOf(run) {
  if (isPlan(run)) return views.filter(([id]) => id === 'plan' || id === 'log');
  return views.filter(([id]) => id !== 'plan' || run.state === 'waiting');
}

export function Run({ project, run: id, part: given }) {
  const { data: run, error, at } = useLive(() => readRun(project, id), (r) => (r.ended ? 0 : r.state === 'waiting' ? 1500 : 800), id);
  if (error) return h(Refused, { error });
  if (!run) return h(Wait);
  const part = given || (isPlan(run) ? 'plan' : '');
  return h('div', { class: 'run' },
    h('div', { class: 'head' },
      h('h1', null, run.operation, h('span', { class: 'env' }, run.project.replace('@', ' / '))),
      h(State, { state: run.command === 'pause' && !run.ended ? 'paused' : run.state }),
      h('p', { class: 'quiet' }, 'requested by ', run.schedule ? `schedule ${run.schedule}` : run.by, ' ', h(Time, { at: run.requested }), run.of && [' · again ', h('a', { href: runLink(project, run.of) }, run.of)],
        run.follows && !run.started && !run.ended && [' · begins ', h(Time, { at: run.not_before })],
        run.from_environment && run.revision && [` · promotes ${run.from_environment}, run `, h('a', { href: runLink(`${project.split('@')[0]}@${run.from_environment}`, run.revision) }, run.revision)]),
      h(Actions, { run })),
    !isPlan(run) && h(Progress, { run }),
    h(Failures, { run }),
    h(Rollouts, { run }),
    part !== 'plan' && h(Approval, { run }),
    (run.attention || []).length > 0 && h(Panel, { tone: 'wait', title: 'Runs that failed, and that no later run has repaired' },
      h('ul', null, run.attention.map((r) => h('li', null, h('a', { href: runLink(r.project, r.run) }, r.run), ` ${r.operation} ${r.state}`)))),
    h(Tabs, { at: part, all: viewsOf(run).map(([p, label]) => ({ id: p, label, href: runLink(project, id, p) })) }),
    part === 'timeline' ? h(Timeline, { run }) : part === 'steps' ? h(Steps, { steps: run.steps || [] }) : part === 'plan' ? h(Plan, { run }) : part === 'log' ? h(Log, { run }) : h(Stacks, { run }),
    !run.ended && at && h('p', { class: 'quiet as-of' }, `as of ${at.toLocaleTimeString()}`));
}
