// An issuer of OpenID Connect: the authorization code flow with PKCE. Tokens are kept in memory only. What has to outlive the way to
// the issuer and back is in the storage of this tab, which is emptied on return: it is of no use without the code.
// https://openid.net/specs/openid-connect-core-1_0.html#CodeFlowAuth, https://www.rfc-editor.org/rfc/rfc7636
const kept = 'sign-in';

const encoded = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const random = () => encoded(crypto.getRandomValues(new Uint8Array(32)));
const home = () => `${location.origin}/`;

// begin leaves the page to sign in at the issuer.
export async function begin(how) {
  const going = { state: random(), nonce: random(), verifier: random(), place: location.hash };
  sessionStorage.setItem(kept, JSON.stringify(going));
  const challenge = encoded(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(going.verifier)));
  location.assign(withParameters(how.authorize, {
    response_type: 'code', client_id: how.client, redirect_uri: home(), scope: 'openid email profile', state: going.state, nonce: going.nonce,
    code_challenge: challenge, code_challenge_method: 'S256',
  }));
}

// endAt is where to sign out at the issuer. Cognito has names of its own for the parameters; others ignore what they do not know. The
// token is no parameter, because the API accepts it until it expires, and addresses are logged: an issuer may ask the user to confirm.
export function endAt(how) {
  return withParameters(how.end, { client_id: how.client, post_logout_redirect_uri: home(), logout_uri: home() });
}

function withParameters(url, parameters) {
  const at = new URL(url);
  for (const [name, value] of Object.entries(parameters)) at.searchParams.set(name, value);
  return at.href;
}

// finish returns the token and when it expires, if the issuer has sent the browser back with a code. The error says why there is none.
export async function finish(how) {
  const got = new URLSearchParams(location.search);
  const going = JSON.parse(sessionStorage.getItem(kept) || 'null');
  if (!got.has('state')) throw new Error('Sign in to see what this installation deploys.');
  sessionStorage.removeItem(kept);
  history.replaceState(null, '', `/${going?.place || ''}`);
  if (!going || got.get('state') !== going.state) {
    throw new Error('The answer of the issuer does not belong to this tab: its state is another one. Somebody may have sent you a link that signs you in as another user. Sign in again.');
  }
  if (got.has('iss') && got.get('iss') !== how.issuer) throw new Error(`The answer is of another issuer, ${got.get('iss')}. Sign in again.`);
  if (!got.has('code')) throw new Error(`The issuer has refused: ${got.get('error_description') || got.get('error') || 'its answer has no code'}`);
  return checked(how, await redeemed(how, got.get('code'), going.verifier), going.nonce);
}

// redeemed returns the ID token for a code.
async function redeemed(how, code, verifier) {
  let response;
  try {
    response = await fetch(how.token, {
      method: 'POST', credentials: 'omit',
      body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: home(), client_id: how.client, code_verifier: verifier }),
    });
  } catch {
    throw new Error(`No token came from ${how.token}: the issuer does not answer, or does not allow requests of ${location.origin} (CORS).`);
  }
  const said = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(`The issuer has given no token: ${said.error_description || said.error || `it answered ${response.status}`}`);
  if (!said.id_token) throw new Error('The issuer has given no ID token. Allow the scope openid for this client.');
  return said.id_token;
}

// checked returns an ID token, and when it expires, if it is for this page and this sign-in. The signature is checked by the installation.
// https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
function checked(how, token, nonce) {
  let claims;
  try {
    claims = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))));
  } catch {
    throw new Error('The token of the issuer cannot be read. Sign in again.');
  }
  if (claims.iss !== how.issuer) throw new Error(`The token is of another issuer, ${claims.iss}. Sign in again.`);
  if (![claims.aud].flat().includes(how.client)) throw new Error(`The token is for another audience, ${claims.aud}, and not for ${how.client}: check the setting pageClient.`);
  if (claims.azp !== undefined && claims.azp !== how.client) throw new Error(`The token was made for another client, ${claims.azp}, and not for ${how.client}: check the setting pageClient.`);
  if (claims.nonce !== nonce) throw new Error('The token does not belong to this sign-in: its nonce is another one. Sign in again.');
  if (!(claims.exp * 1000 > Date.now())) throw new Error('The token of the issuer has expired already: check the clock of this machine, and sign in again.');
  return { token, expires: claims.exp * 1000 };
}
