// Signing in: what the requests of the page carry, so that the API knows who uses it. The file sign-in.json says how.
import { useEffect, useState } from './lib/hooks.js';
import { h } from './parts.js';

let how = { by: '' };
let headers = {};
let missing = null; // why nobody is signed in, in words; null if somebody is, or need not be
const listeners = new Set();

function become(next, why) {
  headers = next;
  missing = why;
  for (const tell of listeners) tell(why);
}

// credentials are the headers of a request to the API.
export const credentials = () => headers;

// refused says that the API does not accept the credentials.
export function refused(why) {
  if (how.by && missing === null) become({}, why);
}

// Ways to sign in, by their names in sign-in.json. start returns whether somebody is signed in.
const ways = {
  // With the code in the address, which the command has printed. The server gives a key for it, once. Servers at other ports
  // of this machine cannot read the storage, and the key is of no use after the command has ended.
  address: {
    async start() {
      const code = new URLSearchParams(location.hash.slice(1)).get('code');
      if (code) {
        history.replaceState(null, '', location.pathname);
        localStorage.removeItem('key');
        const response = await fetch('/page/key', { method: 'POST', body: JSON.stringify({ code }) });
        const said = await response.json();
        if (!response.ok) throw new Error(said.detail);
        localStorage.setItem('key', said.key);
      }
      const key = localStorage.getItem('key');
      if (!key) throw new Error('This browser has not opened the page: run stackwright open, and open the address that it prints.');
      return { 'Stackwright-Key': key };
    },
  },
};

// start reads how to sign in, and does it as far as it needs nobody.
export async function start() {
  try {
    const response = await fetch('/page/sign-in.json');
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    how = await response.json();
    if (how.by) become(await ways[how.by].start(), null);
  } catch (error) {
    become({}, error.message);
  }
}

// useMissing returns why nobody is signed in, or null.
export function useMissing() {
  const [why, tell] = useState(missing);
  useEffect(() => {
    listeners.add(tell);
    return () => listeners.delete(tell);
  }, []);
  return why;
}

// SignIn says that nobody is signed in, and why.
export function SignIn({ why }) {
  return h('section', { class: 'signin' }, h('h1', null, 'You are not signed in'), h('p', null, why));
}

// Caller says as whom the API knows who uses the page.
export function Caller({ read }) {
  const [caller, set] = useState('');
  useEffect(() => {
    if (how.by) read('/installation').then((installation) => set(installation.caller), () => set(''));
  }, []);
  return caller && h('span', { class: 'caller', title: 'As whom the installation knows you' }, caller);
}
