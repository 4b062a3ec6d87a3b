/**
 * The page of a gateway where a person connects an account of their own at a server: which one is meant, opening it, and waiting until the
 * account is there. Only pages of the gateway that is spoken to are opened.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { AccountViewSchema } from '../../../src/servers/accounts/account-schema.ts';
import { EXIT, Failure } from '../failure.ts';
import { OWN_TOKEN, Unanswered, type Api } from '../gateway/api.ts';
import { hasBrowser, openBrowser } from '../login/open-browser.ts';
import { visible } from '../output/table.ts';
import { isTerminal, note, noteProgress } from '../terminal.ts';

export type AccountView = z.infer<typeof AccountViewSchema>;

export const ACCOUNTS = '/api/v1/accounts';
const WAIT_MS = 300_000;
const ANSWER_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 5_000;
const SLOWER = 1.25;
/** The principal of the token of a deployment, which is nobody. */
const NOBODY = 'setup-admin';

/** An address of such a page, by its server. */
export interface AccountPage {
  server: string;
  url: URL;
}

export const pageOf = (origin: string, server: string): AccountPage => ({
  server,
  url: new URL(`/connect/${encodeURIComponent(server)}`, origin),
});

/** The page that a text names, if it is one of this gateway. */
export function findPage(text: string, origin: string): AccountPage | undefined {
  for (const [address] of text.matchAll(/https?:\/\/[^\s"<>]+/g)) {
    const url = URL.parse(address);
    const [, part] = /^\/connect\/([^/]+)$/.exec(url?.pathname ?? '') ?? [];
    if (url?.origin !== origin || part === undefined) continue;
    try {
      return pageOf(origin, decodeURIComponent(part));
    } catch {
      // No name of a server is written like this.
    }
  }
  return undefined;
}

export interface PageOptions {
  /** Open the page, in place of only showing its address. */
  opens: boolean;
  /** Ends the wait; its reason is thrown. */
  signal: AbortSignal;
}

/** Ctrl-C as the end of what waits. @returns what else ends it: nobody waits any more */
export function untilInterrupted(): { signal: AbortSignal; release(): void } {
  const ended = new AbortController();
  const end = () => ended.abort(new Failure('cancelled', 130));
  process.once('SIGINT', end);
  return { signal: ended.signal, release: () => process.off('SIGINT', end) };
}

/** Shows the page, and opens it where a person would see it. */
export async function showPage({ server, url }: AccountPage, opens: boolean): Promise<void> {
  const mayOpen = opens && hasBrowser(process.platform, process.env);
  const isOpened = mayOpen && (await openBrowser(url));
  const what = `Connect your account at ${visible(server)} on`;
  note(
    isOpened ? `${what} the page that opens. If none does, open this one:` : `${what} this page:`,
  );
  note(`\n  ${url.href}\n`);
}

/** Shows each page once that a text names, for who goes on meanwhile; at a terminal it opens. */
export function pageShower(origin: string): (text: string) => Promise<void> {
  const known = new Set<string>();
  return async text => {
    const page = findPage(text, origin);
    if (!page || known.has(page.server)) return;
    known.add(page.server);
    await showPage(page, isTerminal());
  };
}

/**
 * Shows the page and waits until its owner has connected the account there, or connected it anew.
 * @throws Failure where nobody did in five minutes, and where the gateway refuses
 */
export async function connectByPage(
  api: Api,
  page: AccountPage,
  { opens, signal }: PageOptions,
): Promise<AccountView> {
  const { principal } = await api.json<{ principal: string }>('GET', OWN_TOKEN);
  if (principal === NOBODY) {
    throw new Failure('the token of the deployment has no accounts; use one of yours', EXIT.denied);
  }
  const path = `${ACCOUNTS}?${new URLSearchParams({ principal, limit: '500' })}`;
  const before = (await find(api, path, page, signal))?.updated_at;
  await showPage(page, opens);
  const until = Date.now() + WAIT_MS;
  try {
    for (let pauseMs = FIRST_PAUSE_MS; Date.now() < until;) {
      const left = Math.ceil((until - Date.now()) / 60_000);
      noteProgress(`Waiting for your account; ${left} min more. Ctrl-C ends this.`);
      await pause(pauseMs, undefined, { signal });
      const found = await find(api, path, page, signal);
      if (found && found.needs_sign_in === null && found.updated_at !== before) return found;
      pauseMs = Math.min(pauseMs * SLOWER, MAX_PAUSE_MS);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    noteProgress('');
  }
  throw new Failure('nobody connected an account within five minutes');
}

/** The person's own account at the server; undefined too where the gateway is in trouble, which passes. */
async function find(api: Api, path: string, { server }: AccountPage, signal: AbortSignal) {
  const late = AbortSignal.timeout(ANSWER_MS);
  let response: Response;
  try {
    response = await api.send('GET', path, undefined, AbortSignal.any([signal, late]));
  } catch (error) {
    if (error instanceof Unanswered) return undefined;
    throw error;
  }
  if (response.status === 429 || response.status >= 500) return undefined;
  // What is refused is refused again, in words.
  if (!response.ok) await api.json('GET', path);
  const { accounts } = (await response.json()) as { accounts: AccountView[] };
  return accounts.find(each => each.server_name === server || each.server === server);
}
