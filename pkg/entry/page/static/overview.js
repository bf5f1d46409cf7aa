// The overview: all projects, with what needs a person first.
import { get, projectPath, useLive } from './api.js';
import { h, Empty, Mark, Refused, State, Time, Wait, between, isPlan, runLink, span, toneOf } from './parts.js';

// days is how many days of runs are shown.
const days = 30;

async function read() {
  const { projects } = await get('/projects');
  const all = [];
  const rest = [...projects];
  // Six at a time: a browser opens no more connections to one server.
  await Promise.all(Array.from({ length: 6 }, async () => {
    for (let project; (project = rest.shift()) !== undefined; ) {
      const { runs } = await get(`${projectPath(project)}/runs?limit=50`);
      all.push({ project, runs });
    }
  }));
  return all.sort((a, b) => a.project.localeCompare(b.project));
}

const active = (run) => run && !run.ended;

// newest is the newest run that is no plan: a plan repairs nothing.
const newest = (runs) => runs.find((r) => !isPlan(r)) || runs[0];
const ended = (runs) => runs.find((r) => r.ended && !isPlan(r));

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

function Card({ project, runs }) {
  const last = newest(runs);
  const [name, environment] = project.split('@');
  return h('article', { class: `card ${last ? toneOf(last.state) : ''}` },
    h('h2', null, h('a', { href: `#/${encodeURIComponent(project)}` }, name, h('span', null, environment))),
    last ? h('p', { class: 'last' },
      h(State, { state: last.state }), ' ', h('a', { href: runLink(project, last.run) }, last.operation), ' ', h(Time, { at: last.ended || last.requested }),
      active(last) && last.expected_end && ` · ends in about ${span(-between(last.expected_end))}`) : h('p', null, 'No run yet'),
    h(Bars, { runs }));
}

export function Overview() {
  const { data, error } = useLive(read, (all) => (all.some(({ runs }) => active(runs[0])) ? 1500 : 5000), 'overview');
  if (error) return h(Refused, { error });
  if (!data) return h(Wait);
  if (!data.length) {
    return h('div', null, h('h1', null, 'Projects'), h(Empty, { title: 'Nothing is deployed yet' },
      h('p', null, 'Deploy a project, and it is here:'), h('pre', null, 'stackwright init my-project\nstackwright deploy my-project')));
  }
  const waiting = data.flatMap(({ project, runs }) => runs.filter((r) => r.state === 'waiting').map((r) => ({ project, r })));
  const failing = data.filter(({ runs }) => toneOf((ended(runs) || {}).state) === 'bad').length;
  const running = data.filter(({ runs }) => active(runs[0]) && runs[0].state !== 'waiting').length;
  return h('div', { class: 'overview' },
    h('h1', null, 'Projects'),
    h('p', { class: 'sum' }, `${data.length} ${data.length === 1 ? 'environment' : 'environments'}`,
      running > 0 && h('span', { class: 'busy' }, `${running} running`), failing > 0 && h('span', { class: 'bad' }, `${failing} failed`)),
    waiting.length > 0 && h('section', { class: 'panel wait' }, h('h2', null, 'Waiting for a person'),
      h('ul', null, waiting.map(({ project, r }) => h('li', null, h(Mark, { state: 'waiting' }),
        h('a', { href: runLink(project, r.run, 'plan') }, `${r.operation} of ${project}`), ' ', r.who && `requested by ${r.claim || r.who} `, h(Time, { at: r.requested }))))),
    h('div', { class: 'cards' }, data.map((d) => h(Card, d))));
}
