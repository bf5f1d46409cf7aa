// The timeline: when each step worked and when it waited, by account and region.
import { h, Empty, between, span, toneOf, useNow } from './parts.js';

// ready is when a step could start: when the last step before it had ended.
function ready(step, byStep, begin) {
  const ends = (step.after || []).map((id) => byStep.get(id)).map((s) => s && s.ended && new Date(s.ended));
  return ends.some((e) => !e) ? null : new Date(Math.max(begin, ...ends));
}

// Timeline shows the steps that have started.
export function Timeline({ run }) {
  const now = useNow(!run.ended);
  const steps = (run.steps || []).filter((s) => s.started);
  if (!steps.length) return h(Empty, { title: 'No step has started yet' });
  const begin = new Date(run.started || run.requested);
  const last = Math.max(...steps.map((s) => new Date(s.ended || now)), run.ended ? new Date(run.ended) : now);
  const whole = Math.max(1, last - begin);
  const byStep = new Map(run.steps.map((s) => [s.step, s]));
  const critical = new Set(run.critical_path || []);
  const places = new Map();
  for (const s of steps) places.set(s.where || '', [...(places.get(s.where || '') || []), s]);
  const at = (moment) => `${Math.max(0, Math.min(100, ((moment - begin) / whole) * 100))}%`;
  const wide = (from, to) => `${Math.max(0.15, ((to - from) / whole) * 100)}%`;
  const marks = [0, 0.25, 0.5, 0.75, 1];
  return h('div', { class: 'timeline' },
    h('p', { class: 'legend' }, h('i', { class: 'bar busy' }), 'works', h('i', { class: 'bar idle' }), 'could start, but waits', h('i', { class: 'bar critical' }), 'decides how long the run takes'),
    h('div', { class: 'axis', 'aria-hidden': 'true' }, marks.map((t) => h('span', { style: { left: `${t * 100}%` } }, span((t * whole) / 1000)))),
    [...places].map(([where, all]) => h('section', null,
      h('h2', null, where.replace('#', ' · ') || 'This installation'),
      h('ol', null, all.sort((a, b) => new Date(a.started) - new Date(b.started)).map((s) => {
        const from = new Date(s.started);
        const to = new Date(s.ended || now);
        const could = ready(s, byStep, begin);
        return h('li', { key: s.step },
          h('span', { class: 'label' }, s.step),
          h('span', { class: 'track' },
            could && from - could > whole / 200 && h('i', { class: 'bar idle', style: { left: at(could), width: wide(could, from) }, title: `waits ${span((from - could) / 1000)}` }),
            h('i', { class: `bar ${toneOf(s.status)} ${critical.has(s.step) ? 'critical' : ''}`, style: { left: at(from), width: wide(from, to) } })),
          h('span', { class: 'number' }, span(between(s.started, s.ended || now))));
      })))));
}
