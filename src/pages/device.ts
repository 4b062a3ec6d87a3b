/**
 * `/device`: a signed-in person types the code that a program shows on another machine, and is asked whether to allow it (RFC 8628 §3.3).
 * In the known attack, a stranger sends such a code, or a link with it, to an unsuspecting person (§5.4). So a code in the address is only
 * filled in, and both pages say when not to continue.
 */
import { html } from 'hono/html';
import { answerPage, type PagePorts } from '../http/page-files.ts';
import { readForm } from '../http/read-form.ts';
import type { DeviceQuestion, DeviceQuestions } from '../oauth/devices/device-questions.ts';
import { OAuthError } from '../oauth/oauth-error.ts';
import type { SignedIn, SignIns } from '../sign-in/signed-in.ts';
import { listScopes, showProblem, showSignedIn, whoAsks } from './consent-views.ts';
import { redirect, requireOwnPage, toPage, type Html } from './page.ts';
import { toSignInPath } from './sign-in-views.ts';

export interface DevicePagePorts extends PagePorts {
  deviceQuestions: Pick<DeviceQuestions, 'ask' | 'decide'>;
  signIns: SignIns;
}

const PATH = '/device';
const MAX_FORM_BYTES = 2_000;
/** Longest text that is filled in, in characters; a code has nine. */
const MAX_CODE_CHARS = 20;
const TITLE = 'Connect a program to Portico';

/** Serves the page, takes a code, or takes a decision. */
export function handleDevice(
  request: Request,
  url: URL,
  ports: DevicePagePorts,
): Promise<Response> {
  return answerPage(request, url, ports, ['GET', 'HEAD', 'POST'], async () => {
    const code = (url.searchParams.get('user_code') ?? '').slice(0, MAX_CODE_CHARS);
    const signedIn = await ports.signIns.of(request, url);
    if (request.method !== 'POST') {
      if (signedIn) return toCodePage(200, code, signedIn);
      const query = code === '' ? '' : `?${new URLSearchParams({ user_code: code })}`;
      return redirect(toSignInPath(PATH + query));
    }
    requireOwnPage(request, url);
    if (!signedIn) return redirect(toSignInPath(PATH));
    const form = await readForm(request, MAX_FORM_BYTES);
    return form.has('handle')
      ? takeDecision(form, signedIn, ports)
      : takeCode(form.get('user_code') ?? '', signedIn, ports);
  });
}

async function takeCode(
  text: string,
  signedIn: SignedIn,
  { deviceQuestions }: DevicePagePorts,
): Promise<Response> {
  try {
    const question = await deviceQuestions.ask(text, signedIn);
    return await toPage(askToAllow(question, signedIn), { title: TITLE });
  } catch (thrown) {
    if (!(thrown instanceof OAuthError)) throw thrown;
    return toCodePage(thrown.status, text.slice(0, MAX_CODE_CHARS), signedIn, thrown.message);
  }
}

async function takeDecision(
  form: URLSearchParams,
  signedIn: SignedIn,
  { deviceQuestions }: DevicePagePorts,
): Promise<Response> {
  const isAllowed = form.get('decision') === 'allow';
  try {
    const handle = form.get('handle') ?? '';
    const { name } = await deviceQuestions.decide(handle, isAllowed, signedIn);
    return await toPage(isAllowed ? showAllowed(name) : showRefused(name), { title: TITLE });
  } catch (thrown) {
    if (!(thrown instanceof OAuthError)) throw thrown;
    return toPage(showProblem(thrown.message), { title: TITLE, status: thrown.status });
  }
}

const toCodePage = (status: number, code: string, signedIn: SignedIn, problem = '') =>
  toPage(askForCode(code, signedIn, problem), { title: TITLE, status });

const WARNING: Html = html`<p class="warning">
  Go on only if you have just started this yourself, on a machine in front of you. Whoever sends you
  a code or a link to this page wants to use the gateway as you.
</p>`;

const askForCode = (code: string, signedIn: SignedIn, problem: string): Html => html`
  <h1>Connect a program</h1>
  <p id="problem" role="alert">${problem}</p>
  <p>A program on another machine shows a code of eight letters. Type it here.</p>
  ${WARNING}
  <form method="post" action="${PATH}" autocomplete="off">
    <label for="user_code">Code</label>
    <input
      id="user_code"
      name="user_code"
      value="${code}"
      placeholder="XXXX-XXXX"
      maxlength="${MAX_CODE_CHARS}"
      required
      autofocus
      spellcheck="false"
      autocapitalize="characters"
      autocomplete="off"
      class="code"
      aria-describedby="problem"
    />
    <button type="submit">Go on</button>
  </form>
  ${showSignedIn(signedIn)}
`;

const askToAllow = (
  { handle, userCode, client, request }: DeviceQuestion,
  signedIn: SignedIn,
): Html => html`
  <h1>Allow <strong>${client.name}</strong> to use this gateway as you?</h1>
  <dl>
    <dt>Who asks</dt>
    <dd>${whoAsks(client)}</dd>
    <dt>Where it runs</dt>
    <dd>on the machine that shows <code>${userCode}</code> now</dd>
    <dt>Which gateway</dt>
    <dd><code>${request.audience}</code></dd>
    <dt>It may</dt>
    <dd>${listScopes(request.scopes)}</dd>
  </dl>
  ${WARNING}
  <form method="post" action="${PATH}">
    <input type="hidden" name="handle" value="${handle}" />
    <button type="submit" name="decision" value="allow">Allow</button>
    <button type="submit" name="decision" value="deny" class="second">Do not allow</button>
  </form>
  ${showSignedIn(signedIn)}
`;

const showAllowed = (name: string): Html => html`
  <h1>Allowed</h1>
  <p><strong>${name}</strong> goes on by itself in a few seconds. You can close this page.</p>
`;

const showRefused = (name: string): Html => html`
  <h1>Not allowed</h1>
  <p><strong>${name}</strong> gets nothing. You can close this page.</p>
`;
