/**
 * `/connect/{server}`: somebody connects an account of their own at a server, for their calls. The address carries no credential and signs
 * nobody in: whoever opens it connects an account to the principal that their own browser is signed in as, which the page names. What one
 * may not use does not exist. Works without a script.
 */
import { html } from 'hono/html';
import { answerPage, type PagePorts } from '../http/page-files.ts';
import { readForm } from '../http/read-form.ts';
import type { Accounts } from '../servers/accounts/account-service.ts';
import { ConnectAccountSchema } from '../servers/accounts/account-schema.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { findNamed } from '../servers/server-names.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import type { ReachableServers } from '../sign-in/reachable-servers.ts';
import type { SignedIn, SignIns } from '../sign-in/signed-in.ts';
import { redirect, requireOwnPage, secretField, toPage, type Html } from './page.ts';
import { toSignInPath } from './sign-in-views.ts';

export interface ConnectPagePorts extends PagePorts {
  signIns: SignIns;
  reachableServers: ReachableServers;
  accounts: Pick<Accounts, 'connect'>;
}

const PREFIX = '/connect/';
const MAX_FORM_BYTES = 10_000;

/** Whether a path is of such a page. */
export const isConnectPath = (path: string): boolean => path.startsWith(PREFIX);

/** Answer a request for the page, or with an account. */
export function handleConnect(
  request: Request,
  url: URL,
  ports: ConnectPagePorts,
): Promise<Response> {
  return answerPage(request, url, ports, ['GET', 'POST'], async () => {
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
    return request.method === 'POST'
      ? takeToken(request, url, server, signedIn, visible, ports)
      : showForm(200, server, signedIn);
  });
}

function nameIn({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname.slice(PREFIX.length));
  } catch {
    return '';
  }
}

async function takeToken(
  request: Request,
  url: URL,
  server: Server,
  signedIn: SignedIn,
  visible: readonly Server[],
  { accounts }: ConnectPagePorts,
): Promise<Response> {
  requireOwnPage(request, url);
  const form = await readForm(request, MAX_FORM_BYTES);
  const { id, principalId, tokenId, scopes } = signedIn;
  const given = ConnectAccountSchema.safeParse({
    server: server.id,
    token: (form.get('token') ?? '').trim(),
  });
  if (!given.success) return showForm(422, server, signedIn, 'This is no token');
  try {
    const actor = { principalId, tokenId: tokenId ?? id, scopes: new Set(scopes) };
    await accounts.connect(actor, given.data, visible);
  } catch (thrown) {
    const error = toPorticoError(thrown);
    return showForm(error.entry.status, server, signedIn, error.message);
  }
  return toPage(
    html`<h1>Connected</h1>
      <p>
        Calls of <strong>${signedIn.name}</strong> to <strong>${server.name}</strong> use this
        account from now on. Go back to your program and try again.
      </p>`,
    { title: 'Connected' },
  );
}

const showForm = (
  status: number,
  { name }: Server,
  signedIn: SignedIn,
  problem = '',
): Promise<Response> =>
  toPage(askForToken(name, signedIn, problem), { title: `Connect ${name}`, status });

const askForToken = (name: string, signedIn: SignedIn, problem: string): Html => html`
  <h1>Connect your account at ${name}</h1>
  <p id="problem" role="alert">${problem}</p>
  <p>
    Paste a token that ${name} gave you. Calls of <strong>${signedIn.name}</strong> through this
    gateway carry it, nobody else’s do, and nobody is shown it again.
  </p>
  <form method="post" action="${PREFIX}${encodeURIComponent(name)}" autocomplete="off">
    ${secretField('token', `Token of ${name}`)}
    <button type="submit">Connect</button>
  </form>
  <p>You are not ${signedIn.name}? <a href="/sign-in">Sign in as somebody else</a> first.</p>
`;
