/**
 * `/authorize`: asks a signed-in person whether a program may access the gateway (OAuth 2.1 §4.1). The page shows who asks, where the
 * response goes and what it allows; a program's claims about itself are marked as such. Each page can be answered once, by the person it
 * was made for.
 */
import { html } from 'hono/html';
import { answerPage, type PagePorts } from '../http/page-files.ts';
import { readForm } from '../http/read-form.ts';
import type { Authorizations, Question } from '../oauth/authorizations.ts';
import { describeRedirect } from '../oauth/clients/redirects.ts';
import { OAuthError } from '../oauth/oauth-error.ts';
import type { SignedIn, SignIns } from '../sign-in/signed-in.ts';
import { listScopes, showProblem, showSignedIn, whoAsks } from './consent-views.ts';
import { redirect, requireOwnPage, toPage, type Html } from './page.ts';
import { toSignInPath } from './sign-in-views.ts';

export interface AuthorizePorts extends PagePorts {
  authorizations: Pick<Authorizations, 'checkClient' | 'next' | 'decide'>;
  signIns: SignIns;
}

const MAX_FORM_BYTES = 2_000;
/** Longest query of a request that is read, in characters. */
const MAX_QUERY_CHARS = 8_000;

/** Serves the page and takes its decision. */
export function handleAuthorize(
  request: Request,
  url: URL,
  ports: AuthorizePorts,
): Promise<Response> {
  return answerPage(request, url, ports, ['GET', 'POST'], async () => {
    try {
      return request.method === 'POST'
        ? await takeDecision(request, url, ports)
        : await showQuestion(request, url, ports);
    } catch (thrown) {
      if (!(thrown instanceof OAuthError)) throw thrown;
      return toPage(showProblem(thrown.message), { title: 'Portico', status: thrown.status });
    }
  });
}

async function showQuestion(
  request: Request,
  url: URL,
  { authorizations, signIns }: AuthorizePorts,
): Promise<Response> {
  if (url.search.length > MAX_QUERY_CHARS) {
    throw new OAuthError('invalid_request', 'The address is too long');
  }
  const signedIn = await signIns.of(request, url);
  if (signedIn) {
    const step = await authorizations.next(url.searchParams, url.origin, signedIn);
    return step.kind === 'ask' ? toQuestion(step, signedIn) : redirect(step.url);
  }
  await authorizations.checkClient(url.searchParams, url.origin);
  return redirect(toSignInPath(url.pathname + url.search));
}

async function takeDecision(
  request: Request,
  url: URL,
  { authorizations, signIns }: AuthorizePorts,
): Promise<Response> {
  requireOwnPage(request, url);
  const signedIn = await signIns.of(request, url);
  if (!signedIn) throw new OAuthError('access_denied', 'You are no longer signed in');
  const form = await readForm(request, MAX_FORM_BYTES);
  const handle = form.get('handle') ?? '';
  const isAllowed = form.get('decision') === 'allow';
  const step = await authorizations.decide(handle, isAllowed, url.origin, signedIn);
  return schemeOf(step.redirectUri) ? redirect(step.url) : toPage(...leaving(step.url));
}

function toQuestion(step: Question, signedIn: SignedIn): Promise<Response> {
  const leadsTo = schemeOf(step.request.redirectUri);
  return toPage(askToAllow(step, signedIn), { title: `Allow ${step.client.name}?`, leadsTo });
}

/**
 * Returns the scheme of a redirect to an app. The form ends there by a redirect. To every other address a page leads on: browsers apply the
 * form policy to the whole chain of redirects after a form, and the client's address may redirect to one that nobody knows here.
 */
function schemeOf(uri: string): string | undefined {
  return describeRedirect(uri).kind === 'app' ? new URL(uri).protocol : undefined;
}

const leaving = (url: string): Parameters<typeof toPage> => [
  html`<h1>${new URL(url).searchParams.has('error') ? 'Not allowed' : 'Allowed'}</h1>
    <p><a href="${url}">Go back to your program</a></p>`,
  { title: 'Portico', refresh: url },
];

function askToAllow({ client, request, handle }: Question, signedIn: SignedIn): Html {
  return html`
    <h1>Allow <strong>${client.name}</strong> to use this gateway as you?</h1>
    <dl>
      <dt>Who asks</dt>
      <dd>${whoAsks(client)}</dd>
      <dt>Where the answer goes</dt>
      <dd>${whereTo(request.redirectUri)}</dd>
      <dt>Which gateway</dt>
      <dd><code>${request.audience}</code></dd>
      <dt>It may</dt>
      <dd>${listScopes(request.scopes)}</dd>
    </dl>
    <form method="post" action="/authorize">
      <input type="hidden" name="handle" value="${handle}" />
      <button type="submit" name="decision" value="allow">Allow</button>
      <button type="submit" name="decision" value="deny" class="second">Do not allow</button>
    </form>
    ${showSignedIn(signedIn)}
  `;
}

function whereTo(uri: string): Html {
  const { kind, host } = describeRedirect(uri);
  if (kind === 'web') return html`<strong>${host}</strong>`;
  if (kind === 'app') return html`the app on this device that opens <strong>${host}</strong> links`;
  return html`a program on this computer (<strong>${host}</strong>).
    <span class="warning">Allow it only if you have just started it yourself.</span>`;
}
