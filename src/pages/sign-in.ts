/**
 * `/sign-in` and `/sign-out`: a person pastes a token or the code of an invitation once, or goes through a provider, and is signed in with
 * this browser. Then the browser continues to the page of ours that asked for the sign-in. Works without a script.
 *
 * A page leads onward, not a redirect of the form: the next step may be the client's own address, and browsers block a redirect of a form
 * to it. For the same reason a link leads to a provider.
 */
import { answerPage, type PagePorts } from '../http/page-files.ts';
import { readForm } from '../http/read-form.ts';
import { toPorticoError } from '../shared/errors/portico-error.ts';
import type { AccessSignIns } from '../sign-in/access/access-sign-ins.ts';
import type { BrowserSignIns } from '../sign-in/browser-sign-ins.ts';
import { readPendingCookie, toPendingCookie } from '../sign-in/oidc/pending.ts';
import { canHavePasskeys } from '../sign-in/passkeys/passkeys.ts';
import { CALLBACK_PATH, type ProviderSignIns } from '../sign-in/providers/by-providers.ts';
import { toReturnPath } from '../sign-in/return-path.ts';
import { toSetCookie } from '../sign-in/sign-in-cookie.ts';
import { redirect, requireOwnPage } from './page.ts';
import { toFormPage, toSignedInPage, toSignInPath } from './sign-in-views.ts';

export interface SignInPagePorts extends PagePorts {
  signIns: Pick<BrowserSignIns, 'of' | 'ofCookie' | 'by' | 'end'>;
  accessSignIns: Pick<AccessSignIns, 'by'>;
  providerSignIns: Pick<ProviderSignIns, 'list' | 'begin' | 'finish'>;
}

/** Room for a return path of 8,000 characters, escaped, and a token. */
const MAX_BODY_BYTES = 26_000;

type Handler = (request: Request, url: URL, ports: SignInPagePorts) => Promise<Response>;

const PAGES: Readonly<Record<string, readonly [methods: readonly string[], handle: Handler]>> = {
  '/sign-in': [['GET', 'HEAD', 'POST'], (...asked) => answerSignIn(...asked)],
  '/sign-out': [['POST'], (...asked) => signOut(...asked)],
  '/sign-in/start': [['GET'], (...asked) => leave(...asked)],
  [CALLBACK_PATH]: [['GET'], (...asked) => comeBack(...asked)],
};

/** Whether a path belongs to these pages. */
export const isSignInPath = (path: string): boolean => Object.hasOwn(PAGES, path);

/** Serves these pages and takes their forms. */
export function handleSignIn(
  request: Request,
  url: URL,
  ports: SignInPagePorts,
): Promise<Response> {
  const [methods, handle] = PAGES[url.pathname] ?? [[], answerSignIn];
  return answerPage(request, url, ports, methods, () => handle(request, url, ports));
}

/** Returns the sign-in form again, with the problem. */
export async function toProblemPage(
  thrown: unknown,
  path: string | undefined,
  url: URL,
  ports: SignInPagePorts,
): Promise<Response> {
  const { entry, message } = toPorticoError(thrown);
  return toForm(entry.status, path, url, ports, message);
}

async function toForm(
  status: number,
  path: string | undefined,
  url: URL,
  { providerSignIns }: SignInPagePorts,
  problem = '',
): Promise<Response> {
  const ways = { providers: await providerSignIns.list(), hasPasskeys: canHavePasskeys(url) };
  return toFormPage(status, path, ways, problem);
}

async function answerSignIn(request: Request, url: URL, ports: SignInPagePorts) {
  if (request.method === 'POST') return signIn(request, url, ports);
  const path = toReturnPath(url.searchParams.get('return'), url);
  const who = await ports.signIns.of(request, url);
  if (who) return toSignedInPage(who, path, canHavePasskeys(url));
  try {
    const value = await ports.accessSignIns.by(request, url);
    const known = value && (await ports.signIns.ofCookie(value));
    if (!known) return await toForm(200, path, url, ports);
    const page = await toSignedInPage(known, path, canHavePasskeys(url));
    page.headers.append('set-cookie', toSetCookie(url, value));
    return page;
  } catch (thrown) {
    return toProblemPage(thrown, path, url, ports);
  }
}

async function signIn(request: Request, url: URL, ports: SignInPagePorts): Promise<Response> {
  requireOwnPage(request, url);
  const form = await readForm(request, MAX_BODY_BYTES);
  const path = toReturnPath(form.get('return'), url);
  try {
    const value = await ports.signIns.by((form.get('code') ?? '').trim(), url);
    return redirect(toSignInPath(path), toSetCookie(url, value));
  } catch (thrown) {
    return toProblemPage(thrown, path, url, ports);
  }
}

async function signOut(request: Request, url: URL, { signIns }: SignInPagePorts) {
  requireOwnPage(request, url);
  const form = await readForm(request, MAX_BODY_BYTES);
  const who = await signIns.of(request, url);
  if (who) await signIns.end(who);
  return redirect(toSignInPath(toReturnPath(form.get('return'), url)), toSetCookie(url));
}

/** Redirects to a provider. */
async function leave(_request: Request, url: URL, ports: SignInPagePorts): Promise<Response> {
  const path = toReturnPath(url.searchParams.get('return'), url);
  try {
    const id = url.searchParams.get('provider') ?? '';
    const { location, pending } = await ports.providerSignIns.begin(id, url, path);
    return redirect(location.href, toPendingCookie(url, pending));
  } catch (thrown) {
    return toProblemPage(thrown, path, url, ports);
  }
}

/** Handles the return from a provider. */
async function comeBack(request: Request, url: URL, ports: SignInPagePorts): Promise<Response> {
  try {
    const sealed = readPendingCookie(request, url);
    const { value, returnPath } = await ports.providerSignIns.finish(url, sealed);
    return redirect(toSignInPath(returnPath), toSetCookie(url, value), toPendingCookie(url));
  } catch (thrown) {
    const page = await toProblemPage(thrown, undefined, url, ports);
    page.headers.append('set-cookie', toPendingCookie(url));
    return page;
  }
}
