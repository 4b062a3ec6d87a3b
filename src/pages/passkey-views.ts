/** Views of the passkeys page, and the passkey form on the sign-in page. */
import { html } from 'hono/html';
import type { SignedIn } from '../sign-in/signed-in.ts';
import { MAX_NAME_CHARS, type Passkey } from '../sign-in/passkeys/passkey-schema.ts';
import { toPage, type Html } from './page.ts';

/** Targets of the forms, and the paths where their script gets the options for the browser. */
export const PASSKEY_PATHS = {
  page: '/sign-in/passkeys',
  startAdding: '/sign-in/passkeys/start',
  remove: '/sign-in/passkeys/remove',
  signIn: '/sign-in/passkey',
  startSignIn: '/sign-in/passkey/start',
} as const;

/** The form that signs in with a passkey. The script shows it if the browser supports passkeys. */
export const passkeyForm = (returnPath: string | undefined): Html => html`
  <form
    method="post"
    action="${PASSKEY_PATHS.signIn}"
    data-start="${PASSKEY_PATHS.startSignIn}"
    hidden
  >
    <input type="hidden" name="return" value="${returnPath ?? ''}" />
    <input type="hidden" name="answer" />
    <button type="submit">Sign in with a passkey</button>
  </form>
`;

/** The page with the passkeys of the signed-in person. */
export const toPasskeysPage = (
  status: number,
  who: SignedIn,
  passkeys: readonly Passkey[],
  canAdd: boolean,
  problem = '',
): Promise<Response> =>
  toPage(showPasskeys(who, passkeys, canAdd, problem), {
    title: 'Your passkeys for Portico',
    status,
    scripts: ['passkeys.mjs'],
  });

const showPasskeys = (
  { name }: SignedIn,
  passkeys: readonly Passkey[],
  canAdd: boolean,
  problem: string,
): Html => html`
  <h1>Your passkeys</h1>
  <p>
    A passkey signs you in as <strong>${name}</strong> without pasting anything. It lets you do what
    you may do now, and ends with what you are signed in by now.
  </p>
  <p id="problem" role="alert">${problem}</p>
  ${passkeys.length === 0 ? html`<p>You have none yet.</p>` : passkeys.map(showOne)}
  ${canAdd ? askForName : html`<p>${NO_NAME}</p>`}
  <p class="aside"><a href="/sign-in">Back</a></p>
`;

const NO_NAME = 'Passkeys need https and a host with a name: open the gateway by its name.';

const askForName = html`
  <form
    method="post"
    action="${PASSKEY_PATHS.page}"
    data-start="${PASSKEY_PATHS.startAdding}"
    hidden
  >
    <input type="hidden" name="answer" />
    <label for="name">Name of the new one</label>
    <input
      id="name"
      name="name"
      maxlength="${MAX_NAME_CHARS}"
      placeholder="Passkey"
      autocomplete="off"
    />
    <button type="submit">Add a passkey</button>
  </form>
  <p data-unable>This browser has no passkeys, or runs no scripts.</p>
`;

const showOne = ({ id, name, last_used_at: usedAt }: Passkey): Html => html`
  <form method="post" action="${PASSKEY_PATHS.remove}" class="aside">
    <p>${name} <small>${usedAt === null ? 'never used' : `used ${toDay(usedAt)}`}</small></p>
    <input type="hidden" name="id" value="${id}" />
    <button type="submit" class="link" aria-label="Remove ${name}">Remove</button>
  </form>
`;

const toDay = (at: number) => new Date(at).toISOString().slice(0, 10);
