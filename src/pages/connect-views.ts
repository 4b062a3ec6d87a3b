/** Views of the pages where people connect an account. */
import { html } from 'hono/html';
import type { SignedIn } from '../sign-in/signed-in.ts';
import { secretField, toPage, type Html } from './page.ts';

export const CONNECT_PREFIX = '/connect/';

/** Returns the path of the page that connects an account at a server. */
export const connectPath = (server: string): string => CONNECT_PREFIX + encodeURIComponent(server);

/** The page that offers to sign in at the server, or takes a token. */
export const toConnectPage = (
  status: number,
  server: string,
  signedIn: SignedIn,
  problem = '',
): Promise<Response> =>
  toPage(askToConnect(server, signedIn, problem), { title: `Connect ${server}`, status });

const askToConnect = (server: string, { name }: SignedIn, problem: string): Html => html`
  <h1>Connect your account at ${server}</h1>
  <p id="problem" role="alert">${problem}</p>
  <p>
    Calls of <strong>${name}</strong> through this gateway use it, nobody else’s do, and nobody is
    shown what it holds.
  </p>
  <form method="post" action="${connectPath(server)}">
    <button type="submit" name="how" value="sign-in">Sign in at ${server}</button>
  </form>
  <details ${problem === '' ? '' : 'open'}>
    <summary>I have a token instead</summary>
    <form method="post" action="${connectPath(server)}" autocomplete="off">
      ${secretField('token', `Token of ${server}`)}
      <button type="submit" name="how" value="token">Connect with this token</button>
    </form>
  </details>
  <p>You are not ${name}? <a href="/sign-in">Sign in as somebody else</a> first.</p>
`;

/** The page that leads to the authorization server; browsers block a redirect of a form to it. */
export const toLeavingPage = (server: string, location: URL): Promise<Response> =>
  toPage(
    html`<h1>Signing in at ${server}</h1>
      <p>
        You go on to <a href="${location.href}">${location.host}</a>, which asks you to agree.
      </p>`,
    { title: `Sign in at ${server}`, refresh: location.href },
  );

/** The page after an account was connected. */
export const toConnectedPage = (server: string, { name }: SignedIn): Promise<Response> =>
  toPage(
    html`<h1>Connected</h1>
      <p>
        Calls of <strong>${name}</strong> to <strong>${server}</strong> use this account from now
        on. Go back to your program and try again.
      </p>`,
    { title: 'Connected' },
  );

/** The page after a return that failed. */
export const toNotConnectedPage = (status: number, problem: string): Promise<Response> =>
  toPage(
    html`<h1>Not connected</h1>
      <p role="alert">${problem}.</p>
      <p>Nothing was changed. Open the link that led you here once more to begin anew.</p>`,
    { title: 'Not connected', status },
  );
