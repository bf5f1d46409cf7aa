// The overview: all projects, with what needs a person first.
import { Refusal, get, projectPath, useLive } from './api.js';
import { h, Empty, Mark, Refused, State, Time, Wait, runLink, toneOf } from './parts.js';

// days is how many days of runs are shown.
const days = 30;

// The schedules of an environment, and when they were read: they change with runs and by hand, and EventBridge Scheduler answers few requests.
const scheduled = new Map();
const often = 5 * 60 * 1000;

async function schedulesOf({ project, last_run: last }) {
  const as = last ? `${last.run} ${last.state}` : '';
  const known = scheduled.get(project);
  if (known && known.as === as && Date.now() - known.at < often) return known.schedules;
  let schedules = [];
  try {
    ({ schedules = [] } = await get(`${projectPath(project)}/schedules`));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error; // the view of the schedules shows a refusal
  }
  scheduled.set(project, { as, at: Date.now(), schedules });
  return schedules;
}

// The runs of an environment, for its bars, as they were when its newest run was last seen to change.
const remembered = new Map();

async function runsOf(environment) {
  const last = environment.last_run;
  const as = last ? `${last.run} ${last.state}` : '';
  const known = remembered.get(environment.project);
  if (known && known.as === as) return known.runs;
  const { runs } = await get(`${projectPath(environment.project)}/runs?limit=100`);
  remembered.set(environment.project, { as, runs });
  return runs;
}

async function read() {
  const [{ projects }, { approvals }] = await Promise.all([get('/projects'), get('/approvals')]);
  const environments = [];
  const rest = [...projects];
  // Six at a time: a browser opens no more connections to one server.
  await Promise.all(Array.from({ length: 6 }, async () => {
    for (let project; (project = rest.shift()) !== undefined; ) {
      const environment = await get(projectPath(project));
      environments.push({ ...environment, runs: await runsOf(environment), schedules: await schedulesOf(environment) });
    }
  }));
  return { approvals, environments: environments.sort((a, b) => a.project.localeCompare(b.project)) };
}

const active = (run) => run && !run.ended;

// Bars shows the runs of the last days, one bar a day: as high as there were many, and red if one failed.
function Bars({ runs }) {
  const today = new Date();
  const all = Array.from({ length: days }, (_, i) => {
    const day = new Date(today.getFullYear(), today.getMonth(), today.getDate() - (days - 1 - i));
    const of = runs.filter((r) => new Date(r.requested).toDateString() === day.toDateString());
    return { day, count: of.length, failed: of.filter((r) => toneOf(r.state) === 'bad').length };
  });
  const count = all.reduce((sum, d) => sum + d.count, 0);
  const failed = all.reduce((sum, d) => sum + d.failed, 0);
  return h('svg', { class: 'bars', preserveAspectRatio: 'none', viewBox: `0 0 ${days * 4} 20`, role: 'img', 'aria-label': `${count} runs in ${days} days, ${failed} failed` },
    all.map((d, i) => h('rect', {
      x: i * 4, width: 3, rx: 1, y: d.count ? 20 - Math.min(20, 5 + d.count * 3) : 18, height: d.count ? Math.min(20, 5 + d.count * 3) : 2,
      class: d.failed ? 'bad' : d.count ? 'good' : 'none',
    }, h('title', null, `${d.day.toLocaleDateString()}: ${d.count} runs, ${d.failed} failed`))));
}

function Card({ project, runs, last_run: last, attention, lock, stacks }) {
  const [name, environment] = project.split('@');
  const queued = ((lock && lock.waiting) || []).length;
  return h('article', { class: `card ${attention ? 'bad' : last ? toneOf(last.state) : ''}` },
    h('h2', null, h('a', { href: `#/${encodeURIComponent(project)}` }, name, h('span', null, environment))),
    last ? h('p', { class: 'last' },
      h(State, { state: last.state }), ' ', h('a', { href: runLink(project, last.run) }, last.operation), ' ', h(Time, { at: last.ended || last.requested })) : h('p', null, 'No run is recorded'),
    attention && attention.run !== last.run && h('p', { class: 'last' }, h(Mark, { state: 'failed' }), 'No later run has repaired the ',
      h('a', { href: runLink(project, attention.run) }, `${attention.operation} that failed`), ' ', h(Time, { at: attention.ended || attention.requested })),
    h('p', { class: 'quiet facts' }, `${stacks} ${stacks === 1 ? 'stack' : 'stacks'}`, queued > 0 && ` · ${queued} ${queued === 1 ? 'run' : 'runs'} queued`),
    h(Bars, { runs }));
}

// soon is how many of the next schedules are listed.
const soon = 5;

// Next lists which schedules run next.
function Next({ environments }) {
  const now = Date.now();
  const all = environments.flatMap(({ project, schedules }) => schedules.flatMap((s) => (s.next || []).map((at) => ({ project, s, at: new Date(at) }))))
    .filter(({ at }) => at > now).sort((a, b) => a.at - b.at).slice(0, soon);
  if (!all.length) return null;
  return h('section', { class: 'panel' }, h('h2', null, 'Next by schedule'), h('ul', null, all.map(({ project, s, at }) => h('li', null,
    h('time', { dateTime: at.toISOString() }, at.toLocaleString()), ' ', h('a', { href: `#/${encodeURIComponent(project)}/schedules` }, `${s.operation} of ${project}`), ' ', h('span', { class: 'quiet' }, s.schedule)))));
}

// Question is what waits for an answer: the plan of a run, or what it does with a stack.
function Question({ q }) {
  return h('li', null, h(Mark, { state: 'waiting' }),
    h('a', { href: runLink(q.project, q.run, 'plan') }, q.stack ? `${q.stack} of ${q.project}` : `plan of ${q.project}`), ' ', `requested by ${q.who} `, h(Time, { at: q.since }),
    q.deadline && ` · until ${new Date(q.deadline).toLocaleString()}`);
}

export function Overview() {
  const { data, error } = useLive(read, ({ environments }) => (environments.some((e) => active(e.last_run)) ? 1500 : 5000), 'overview');
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  const { environments, approvals } = data;
  if (!environments.length) {
    return h('div', null, h('h1', null, 'Projects'), h(Empty, { title: 'Nothing is deployed yet' },
      h('p', null, 'Deploy a project, and it is here:'), h('pre', null, 'stackwright init my-project\nstackwright deploy my-project')));
  }
  const failing = environments.filter((e) => e.attention);
  const waiting = environments.filter((e) => e.last_run && e.last_run.state === 'waiting').length;
  const running = environments.filter((e) => active(e.last_run)).length - waiting;
  return h('div', { class: 'overview' },
    h('h1', null, 'Projects'),
    h('p', { class: 'sum' }, `${environments.length} ${environments.length === 1 ? 'environment' : 'environments'}`,
      running > 0 && h('span', { class: 'busy' }, `${running} running`), waiting > 0 && h('span', { class: 'wait' }, `${waiting} waiting`), failing.length > 0 && h('span', { class: 'bad' }, `${failing.length} failed`)),
    failing.length > 0 && h('section', { class: 'panel bad' }, h('h2', null, 'Failed, and no later run has repaired it'),
      h('ul', null, failing.map(({ project, attention: r }) => h('li', null, h(Mark, { state: 'failed' }),
        h('a', { href: runLink(project, r.run) }, `failed ${r.operation} of ${project}`), ' ', `requested by ${r.by} `, h(Time, { at: r.ended || r.requested }))))),
    approvals.length > 0 && h('section', { class: 'panel wait' }, h('h2', null, 'Waiting for a person'),
      h('ul', null, approvals.map((q) => h(Question, { key: `${q.run} ${q.step}`, q })))),
    h('div', { class: 'cards' }, environments.map((e) => h(Card, { key: e.project, ...e }))),
    h(Next, { environments }),
    h('p', { class: 'foot' }, h('a', { href: '#/audit' }, 'Audit log: who requested which change')));
}
