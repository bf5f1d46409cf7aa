// The page: which view is shown, and what is around it.
import { render } from './lib/preact.js';
import { useEffect, useState } from './lib/hooks.js';
import { get, useConnection } from './api.js';
import { start, useMissing, Caller, SignIn } from './signin.js';
import { h, Fragment } from './parts.js';
import { Overview } from './overview.js';
import { AuditOfAll } from './audit.js';
import { Environment } from './environment.js';
import { Run } from './run.js';

// route reads the address: #/PROJECT@ENVIRONMENT/RUN/PART, or #/audit.
function route() {
  const [project = '', run = '', part = ''] = location.hash.replace(/^#\/?/, '').split('/').map((text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  });
  return { project, run, part };
}

const themes = ['auto', 'light', 'dark'];

function Theme() {
  const [theme, set] = useState(() => localStorage.getItem('theme') || 'auto');
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem('theme', theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length];
  return h('button', { type: 'button', class: 'small quiet', onClick: () => set(next), 'aria-label': `Colours: ${theme}. Change to ${next}` },
    `Colours: ${theme}`);
}

function Lost() {
  const since = useConnection();
  return h('div', { class: 'lost', role: 'status' }, since &&
    h('p', null, `The server has not answered since ${since.toLocaleTimeString()}. What you see is from then. Trying again…`));
}

// Where says where the installation is.
function Where() {
  const [place, set] = useState('');
  useEffect(() => {
    get('/installation').then((installation) => set(installation.place || ''), () => set(''));
  }, []);
  return place && h('span', { class: 'caller', title: place }, place);
}

function Page() {
  const [at, go] = useState(route);
  useEffect(() => {
    const moved = () => {
      go(route());
      scrollTo(0, 0);
    };
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);
  const missing = useMissing();
  const { project, run, part } = at;
  // The parts of an environment have names that no run has: IDs of runs have 20 characters.
  const ofEnvironment = project && (!run || run.length < 20);
  useEffect(() => {
    document.title = [run && !ofEnvironment ? run : '', project, 'Stackwright'].filter(Boolean).join(' · ');
  }, [project, run]);
  return h(Fragment, null,
    h('a', { class: 'skip', href: '#main', onClick: (e) => { e.preventDefault(); document.getElementById('main').focus(); } }, 'Skip to the content'),
    h('header', { class: 'top' },
      h('a', { class: 'name', href: '#/' }, h('img', { src: '/page/icon.svg', alt: '', width: 24, height: 24 }), 'Stackwright'),
      h('nav', { 'aria-label': 'Path' },
        project && h('a', { href: `#/${encodeURIComponent(project)}` }, project === 'audit' ? 'Audit log' : project.replace('@', ' / ')),
        project && !ofEnvironment && h('span', { class: 'id' }, run)),
      missing === null && h(Where),
      missing === null && h(Caller, { read: get }),
      h(Theme)),
    h(Lost),
    h('main', { id: 'main', tabIndex: -1 },
      missing !== null ? h(SignIn, { why: missing }) : !project ? h(Overview) : project === 'audit' ? h(AuditOfAll) : ofEnvironment ? h(Environment, { key: project, project, part: run }) : h(Run, { key: run, project, run, part })));
}

await start();
render(h(Page), document.getElementById('page'));
