/**
 * `/connect/{server}` and the page to which authorization servers send people back: a person connects their own account at a server, for
 * their own calls. The address carries no credential and signs nobody in. Whoever opens it connects an account to the principal that their
 * own browser is signed in as, which the page names, and only a form on that page starts the redirect. A server that the person may not use
 * looks as if it did not exist. Works without a script.
 */
import { html } from 'hono/html';
import { answerPage, type PagePorts } from '../http/page-files.ts';
import { readForm } from '../http/read-form.ts';
import type { Accounts } from '../servers/accounts/account-service.ts';
import { ConnectAccountSchema } from '../servers/accounts/account-schema.ts';
import { CALLBACK_PATH, type Connecting } from '../servers/accounts/connecting.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { findNamed } from '../servers/server-names.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import type { Actor } from '../shared/identity/principal.ts';
import type { ReachableServers } from '../sign-in/reachable-servers.ts';
import type { SignedIn, SignIns } from '../sign-in/signed-in.ts';
import {
  CONNECT_PREFIX,
  toConnectedPage,
  toConnectPage,
  toLeavingPage,
  toNotConnectedPage,
} from './connect-views.ts';
import { redirect, requireOwnPage, toPage } from './page.ts';
import { toSignInPath } from './sign-in-views.ts';

export interface ConnectPagePorts extends PagePorts {
  signIns: SignIns;
  reachableServers: ReachableServers;
  accounts: Pick<Accounts, 'connect'>;
  connecting: Pick<Connecting, 'begin' | 'finish'>;
}

const MAX_FORM_BYTES = 10_000;

/** Whether a path belongs to these pages. */
export const isConnectPath = (path: string): boolean =>
  path.startsWith(CONNECT_PREFIX) || path === CALLBACK_PATH;

/** Serves the page, takes its form, or handles the return. */
export function handleConnect(
  request: Request,
  url: URL,
  ports: ConnectPagePorts,
): Promise<Response> {
  const isBack = url.pathname === CALLBACK_PATH;
  return answerPage(request, url, ports, isBack ? ['GET'] : ['GET', 'POST'], () =>
    isBack ? comeBack(request, url, ports) : answer(request, url, ports),
  );
}

async function answer(request: Request, url: URL, ports: ConnectPagePorts): Promise<Response> {
  const signedIn = await ports.signIns.of(request, url);
  if (!signedIn) {
    if (request.method === 'POST') throw new PorticoError('forbidden', 'Sign in first');
    return redirect(toSignInPath(url.pathname));
  }
  const visible = await ports.reachableServers(signedIn);
  const server = findNamed(nameIn(url), visible);
  if (!server || server.accounts === 'shared') {
    return toPage(html`<h1>There is no such server for you</h1>`, {
      title: 'Portico',
      status: 404,
    });
  }
  if (request.method !== 'POST') return toConnectPage(200, server.name, signedIn);
  requireOwnPage(request, url);
  const form = await readForm(request, MAX_FORM_BYTES);
  try {
    if (form.get('how') === 'sign-in') return await leave(url, server, signedIn, ports);
    return await takeToken(form, server, signedIn, visible, ports);
  } catch (thrown) {
    const { entry, message } = toPorticoError(thrown);
    return toConnectPage(entry.status, server.name, signedIn, message);
  }
}

function nameIn({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname.slice(CONNECT_PREFIX.length));
  } catch {
    return '';
  }
}

const actorOf = ({ id, principalId, tokenId, scopes }: SignedIn): Actor => ({
  principalId,
  tokenId: tokenId ?? id,
  scopes: new Set(scopes),
});

const atBrowser = (signedIn: SignedIn) => ({ actor: actorOf(signedIn), signInId: signedIn.id });

/** Redirects to the server's authorization server. */
async function leave(
  { origin }: URL,
  server: Server,
  signedIn: SignedIn,
  { connecting }: ConnectPagePorts,
): Promise<Response> {
  const location = await connecting.begin(atBrowser(signedIn), server, origin);
  return toLeavingPage(server.name, location);
}

/** Handles the return from it. */
async function comeBack(request: Request, url: URL, ports: ConnectPagePorts): Promise<Response> {
  const signedIn = await ports.signIns.of(request, url);
  if (!signedIn) return toNotConnectedPage(403, 'Nobody is signed in with this browser any more');
  try {
    const visible = await ports.reachableServers(signedIn);
    const server = await ports.connecting.finish(atBrowser(signedIn), url, visible);
    return await toConnectedPage(server.name, signedIn);
  } catch (thrown) {
    const { entry, message } = toPorticoError(thrown);
    return toNotConnectedPage(entry.status, message);
  }
}

async function takeToken(
  form: URLSearchParams,
  server: Server,
  signedIn: SignedIn,
  visible: readonly Server[],
  { accounts }: ConnectPagePorts,
): Promise<Response> {
  const token = (form.get('token') ?? '').trim();
  const given = ConnectAccountSchema.safeParse({ server: server.id, token });
  if (!given.success) return toConnectPage(422, server.name, signedIn, 'This is not a token');
  await accounts.connect(actorOf(signedIn), given.data, visible);
  return toConnectedPage(server.name, signedIn);
}
