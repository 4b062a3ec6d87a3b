/**
 * `/sign-in/passkeys` and `/sign-in/passkey`: a signed-in person adds and removes passkeys, and people sign in with one. A script is needed
 * to ask the browser. The browser's response comes in a form like any other: of bounded size and from our own page.
 */
import { answerPage } from '../http/page-files.ts';
import { readForm } from '../http/read-form.ts';
import { PorticoError, toPorticoError } from '../shared/errors/portico-error.ts';
import { readChallengeCookie, toChallengeCookie } from '../sign-in/passkeys/passkey-challenge.ts';
import { MAX_ANSWER_CHARS } from '../sign-in/passkeys/passkey-check.ts';
import {
  canHavePasskeys,
  type PasskeyOptions,
  type Passkeys,
} from '../sign-in/passkeys/passkeys.ts';
import { toReturnPath } from '../sign-in/return-path.ts';
import { toSetCookie } from '../sign-in/sign-in-cookie.ts';
import type { SignedIn } from '../sign-in/signed-in.ts';
import { redirect, requireOwnPage } from './page.ts';
import { PASSKEY_PATHS, toPasskeysPage } from './passkey-views.ts';
import { toProblemPage, type SignInPagePorts } from './sign-in.ts';
import { toSignInPath } from './sign-in-views.ts';

export interface PasskeyPagePorts extends SignInPagePorts {
  passkeys: Pick<Passkeys, 'signInOptions' | 'signIn' | 'listOf' | 'addOptions' | 'add' | 'remove'>;
}

/** Room for a response and for a return path of 8,000 characters, both escaped. */
const MAX_BODY_BYTES = MAX_ANSWER_CHARS * 1.5 + 26_000;

type Handler = (request: Request, url: URL, ports: PasskeyPagePorts) => Promise<Response>;

const PAGES: Readonly<Record<string, readonly [methods: readonly string[], handle: Handler]>> = {
  [PASSKEY_PATHS.page]: [['GET', 'HEAD', 'POST'], (...asked) => answerPasskeys(...asked)],
  [PASSKEY_PATHS.startAdding]: [['POST'], (...asked) => startAdding(...asked)],
  [PASSKEY_PATHS.remove]: [['POST'], (...asked) => remove(...asked)],
  [PASSKEY_PATHS.signIn]: [['POST'], (...asked) => signIn(...asked)],
  [PASSKEY_PATHS.startSignIn]: [['POST'], (...asked) => startSignIn(...asked)],
};

/** Whether a path belongs to these pages. */
export const isPasskeyPath = (path: string): boolean => Object.hasOwn(PAGES, path);

/** Serves the page or takes one of its forms. */
export function handlePasskeys(
  request: Request,
  url: URL,
  ports: PasskeyPagePorts,
): Promise<Response> {
  const [methods, handle] = PAGES[url.pathname] ?? [[], answerPasskeys];
  return answerPage(request, url, ports, methods, () => handle(request, url, ports));
}

/** Returns the options that the script passes to the browser. */
function toOptions(url: URL, { options, sealed }: PasskeyOptions): Response {
  return Response.json(options, {
    headers: {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'set-cookie': toChallengeCookie(url, sealed),
    },
  });
}

async function startSignIn(request: Request, url: URL, { passkeys }: PasskeyPagePorts) {
  requireOwnPage(request, url);
  return toOptions(url, await passkeys.signInOptions(url));
}

async function signIn(request: Request, url: URL, ports: PasskeyPagePorts): Promise<Response> {
  requireOwnPage(request, url);
  const form = await readForm(request, MAX_BODY_BYTES);
  const path = toReturnPath(form.get('return'), url);
  try {
    const sealed = readChallengeCookie(request, url);
    const value = await ports.passkeys.signIn(url, sealed, form.get('answer') ?? '');
    return redirect(toSignInPath(path), toSetCookie(url, value), toChallengeCookie(url));
  } catch (thrown) {
    const page = await toProblemPage(thrown, path, url, ports);
    page.headers.append('set-cookie', toChallengeCookie(url));
    return page;
  }
}

async function answerPasskeys(request: Request, url: URL, ports: PasskeyPagePorts) {
  const who = await ports.signIns.of(request, url);
  if (request.method !== 'POST') {
    return who ? showPage(200, url, who, ports) : redirect(toSignInPath(PASSKEY_PATHS.page));
  }
  requireOwnPage(request, url);
  const form = await readForm(request, MAX_BODY_BYTES);
  if (!who) return redirect(toSignInPath(PASSKEY_PATHS.page));
  const sent = { name: form.get('name') ?? '', answer: form.get('answer') ?? '' };
  try {
    await ports.passkeys.add(url, who, readChallengeCookie(request, url), sent);
    return redirect(PASSKEY_PATHS.page, toChallengeCookie(url));
  } catch (thrown) {
    const error = toPorticoError(thrown);
    const page = await showPage(error.entry.status, url, who, ports, error.message);
    page.headers.append('set-cookie', toChallengeCookie(url));
    return page;
  }
}

async function showPage(
  status: number,
  url: URL,
  who: SignedIn,
  { passkeys }: PasskeyPagePorts,
  problem = '',
): Promise<Response> {
  return toPasskeysPage(status, who, await passkeys.listOf(who), canHavePasskeys(url), problem);
}

async function startAdding(request: Request, url: URL, { signIns, passkeys }: PasskeyPagePorts) {
  requireOwnPage(request, url);
  const who = await signIns.of(request, url);
  if (!who) throw new PorticoError('forbidden', 'You are no longer signed in');
  return toOptions(url, await passkeys.addOptions(url, who));
}

async function remove(request: Request, url: URL, ports: PasskeyPagePorts): Promise<Response> {
  requireOwnPage(request, url);
  const form = await readForm(request, MAX_BODY_BYTES);
  const who = await ports.signIns.of(request, url);
  if (!who) return redirect(toSignInPath(PASSKEY_PATHS.page));
  try {
    await ports.passkeys.remove(who, form.get('id') ?? '');
    return redirect(PASSKEY_PATHS.page);
  } catch (thrown) {
    const error = toPorticoError(thrown);
    return showPage(error.entry.status, url, who, ports, error.message);
  }
}
