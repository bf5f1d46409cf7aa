// Signing in: what the requests of the page carry, so that the API knows who uses it. The file sign-in.json says how.
import { useEffect, useState } from './lib/hooks.js';
import { h } from './parts.js';
import * as issuer from './issuer.js';

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

// refused says that the API does not accept the credentials, or that they have expired.
export function refused(why) {
  if (how.by && missing === null) become({}, ways[how.by].refusal || why);
}

// Ways to sign in, by their names in sign-in.json. start returns the headers of requests; its error says why nobody is signed in.
const ways = {
  // With the code in the address, which the command has printed. The server gives a key for it, once. A key is lost only to a newer
  // one: any web site can open this page with a wrong code. Servers at other ports
  // of this machine cannot read the storage, and the key is of no use after the command has ended.
  address: {
    async start() {
      const code = new URLSearchParams(location.hash.slice(1)).get('code');
      if (code) {
        history.replaceState(null, '', location.pathname);
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
  // With a token of an issuer of OpenID Connect.
  issuer: {
    refusal: 'The installation does not accept your token any more, or it is not meant for this installation. Sign in again.',
    async start() {
      const { token, expires } = await issuer.finish(how);
      // A timer of more than 24 days ends at once.
      setTimeout(() => missing === null && become({}, 'Your token has expired. Sign in again: the page goes on where you are.'), Math.min(expires - Date.now(), 2 ** 31 - 1));
      return { Authorization: `Bearer ${token}` };
    },
    begin: () => issuer.begin(how).catch((error) => become({}, error.message)),
    end() {
      become({}, 'You have signed out.');
      if (how.end) location.assign(issuer.endAt(how));
    },
  },
};

// start reads how to sign in, and does it as far as it needs nobody.
export async function start() {
  try {
    const response = await fetch('/page/sign-in.json');
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    how = await response.json();
    if (how.problem) throw new Error(`There is no way to sign in: ${how.problem}`);
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

// SignIn says that nobody is signed in, and why, and offers to sign in.
export function SignIn({ why }) {
  const begin = !how.problem && ways[how.by]?.begin;
  return h('section', { class: 'signin' }, h('h1', null, 'You are not signed in'), h('p', null, why),
    begin && h('p', null, h('button', { type: 'button', class: 'primary', onClick: begin }, `Sign in at ${new URL(how.authorize).host}`)));
}

// Caller says as whom the API knows who uses the page, and offers to sign out.
export function Caller({ read }) {
  const [caller, set] = useState('');
  useEffect(() => {
    if (how.by) read('/installation').then((installation) => set(installation.caller), () => set(''));
  }, []);
  const end = ways[how.by]?.end;
  return [caller && h('span', { class: 'caller', title: 'As whom the installation knows you' }, caller),
    end && h('button', { type: 'button', class: 'small quiet', onClick: end }, 'Sign out')];
}
