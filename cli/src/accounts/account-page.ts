/**
 * The gateway's page where a person connects their own account at a server: finds the page, opens it and waits until the account is
 * connected. Only pages of the gateway that the command talks to are opened.
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
/** The principal behind the deployment's own token; it is no person. */
const NOBODY = 'setup-admin';

/** The address of such a page, and its server. */
export interface AccountPage {
  server: string;
  url: URL;
}

export const pageOf = (origin: string, server: string): AccountPage => ({
  server,
  url: new URL(`/connect/${encodeURIComponent(server)}`, origin),
});

/** Returns the page that a text names, if it is on this gateway. */
export function findPage(text: string, origin: string): AccountPage | undefined {
  for (const [address] of text.matchAll(/https?:\/\/[^\s"<>]+/g)) {
    const url = URL.parse(address);
    const [, part] = /^\/connect\/([^/]+)$/.exec(url?.pathname ?? '') ?? [];
    if (url?.origin !== origin || part === undefined) continue;
    try {
      return pageOf(origin, decodeURIComponent(part));
    } catch {
      // Not a valid percent-encoding, so not the name of a server.
    }
  }
  return undefined;
}

export interface PageOptions {
  /** Open the page instead of only showing its address. */
  opens: boolean;
  /** Ends the wait; its reason is thrown. */
  signal: AbortSignal;
}

/** Makes Ctrl-C end a wait through `signal`. Call `release` when the wait is over. */
export function untilInterrupted(): { signal: AbortSignal; release(): void } {
  const ended = new AbortController();
  const end = () => ended.abort(new Failure('cancelled', 130));
  process.once('SIGINT', end);
  return { signal: ended.signal, release: () => process.off('SIGINT', end) };
}

/** Shows the page, and opens it if this machine has a browser. */
export async function showPage({ server, url }: AccountPage, opens: boolean): Promise<void> {
  const mayOpen = opens && hasBrowser(process.platform, process.env);
  const isOpened = mayOpen && (await openBrowser(url));
  const what = `Connect your account at ${visible(server)} on`;
  note(
    isOpened ? `${what} the page that opens. If none does, open this one:` : `${what} this page:`,
  );
  note(`\n  ${url.href}\n`);
}

/** Shows each page that a text names once, without waiting for the account; at a terminal the page is opened too. */
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
 * Shows the page and waits until its owner has connected the account, or connected it again.
 * @throws Failure where nobody connected it within five minutes, and where the gateway refuses
 */
export async function connectByPage(
  api: Api,
  page: AccountPage,
  { opens, signal }: PageOptions,
): Promise<AccountView> {
  const { principal } = await api.json<{ principal: string }>('GET', OWN_TOKEN);
  if (principal === NOBODY) {
    throw new Failure(
      'the admin token of the deployment has no accounts; use a token of your own',
      EXIT.denied,
    );
  }
  const path = `${ACCOUNTS}?${new URLSearchParams({ principal, limit: '500' })}`;
  // Without an answer here, an account that was there before would count as connected now.
  const before = ofServer(
    await api.withRetries<Listed>('GET', path, undefined, signal),
    page,
  )?.updated_at;
  signal.throwIfAborted();
  await showPage(page, opens);
  const until = Date.now() + WAIT_MS;
  try {
    for (let pauseMs = FIRST_PAUSE_MS; Date.now() < until;) {
      const left = Math.ceil((until - Date.now()) / 60_000);
      noteProgress(`Waiting for your account; ${left} more min. Ctrl-C stops.`);
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

/** Returns the person's own account at the server. Undefined also where the gateway has a passing problem (429, 5xx, no response). */
async function find(api: Api, path: string, page: AccountPage, signal: AbortSignal) {
  const late = AbortSignal.timeout(ANSWER_MS);
  let response: Response;
  try {
    response = await api.send('GET', path, undefined, AbortSignal.any([signal, late]));
  } catch (error) {
    if (error instanceof Unanswered) return undefined;
    throw error;
  }
  if (response.status === 429 || response.status >= 500) return undefined;
  // `json` throws the refusal with its message, so the request is sent once more through it.
  if (!response.ok) await api.json('GET', path);
  return ofServer((await response.json()) as Listed, page);
}

interface Listed {
  accounts: AccountView[];
}

const ofServer = ({ accounts }: Listed, { server }: AccountPage) =>
  accounts.find(each => each.server_name === server || each.server === server);
