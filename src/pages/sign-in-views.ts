/** Views of the sign-in pages, and their links. */
import { html } from 'hono/html';
import type { SignedIn } from '../sign-in/signed-in.ts';
import { secretField, toPage, type Html } from './page.ts';
import { PASSKEY_PATHS, passkeyForm } from './passkey-views.ts';

/** A provider on the sign-in page. */
export interface Named {
  id: string;
  name: string;
}

/** Ways to sign in besides pasting a token or code. */
export interface Ways {
  providers: readonly Named[];
  hasPasskeys: boolean;
}

/** Returns a path of these pages that carries the page to continue to. */
export const withReturn = (path: string, to: string | undefined, more: object = {}): string => {
  const query = new URLSearchParams({ ...more, ...(to === undefined ? {} : { return: to }) });
  return query.size === 0 ? path : `${path}?${String(query)}`;
};

/** Returns the path of the sign-in page that continues to another page. */
export const toSignInPath = (path: string | undefined): string => withReturn('/sign-in', path);

/** The page with the ways to sign in. */
export const toFormPage = (
  status: number,
  path: string | undefined,
  ways: Ways,
  problem = '',
): Promise<Response> =>
  toPage(askWho(path, ways, problem), {
    title: 'Sign in to Portico',
    status,
    scripts: ['code.mjs', 'passkeys.mjs'],
  });

/** The page that shows who is signed in and continues by itself. */
export async function toSignedInPage(
  who: SignedIn,
  path: string | undefined,
  hasPasskeys: boolean,
): Promise<Response> {
  const page = await toPage(showWho(who, path, hasPasskeys), { title: 'Signed in to Portico' });
  if (path !== undefined) page.headers.set('refresh', `0; url=${path}`);
  return page;
}

const askWho = (
  path: string | undefined,
  { providers, hasPasskeys }: Ways,
  problem: string,
): Html => html`
  <h1>Sign in to Portico</h1>
  <p id="problem" role="alert">${problem}</p>
  ${providers.map(
    ({ id, name }) =>
      html`<p>
        <a class="button" href="${withReturn('/sign-in/start', path, { provider: id })}"
          >Sign in with ${name}</a
        >
      </p>`,
  )}
  ${hasPasskeys ? passkeyForm(path) : ''}
  <p>
    Paste a token of yours, or the code of an invitation. Your browser stays signed in for twelve
    hours; what you paste is not kept in it.
  </p>
  <form method="post" action="/sign-in" autocomplete="off">
    <input type="hidden" name="return" value="${path ?? ''}" />
    ${secretField('code', 'Token or invitation')}
    <button type="submit">Sign in</button>
  </form>
`;

const showWho = ({ name }: SignedIn, path: string | undefined, hasPasskeys: boolean): Html => html`
  <h1>You are signed in</h1>
  <p>This browser is signed in as <strong>${name}</strong>.</p>
  <p>
    ${
      path === undefined
        ? html`<a href="/console">Open the console</a>`
        : html`<a href="${path}">Go on</a>`
    }
  </p>
  ${hasPasskeys ? html`<p><a href="${PASSKEY_PATHS.page}">Your passkeys</a></p>` : ''}
  <form method="post" action="/sign-out">
    <input type="hidden" name="return" value="${path ?? ''}" />
    <button type="submit">Sign out</button>
  </form>
`;
