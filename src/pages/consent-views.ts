/** Views shared by the consent pages: who asks, what the program may do, and who decides. */
import { html } from 'hono/html';
import type { OAuthClient } from '../oauth/clients/client.ts';
import type { Scope } from '../shared/identity/principal.ts';
import type { SignedIn } from '../sign-in/signed-in.ts';
import type { Html } from './page.ts';

const SCOPES: Readonly<Record<Scope, string>> = {
  'tools:read': 'See the tools, resources and prompts that you may use',
  'tools:call': 'Use them in your name',
  'servers:read': 'See how servers are set up',
  'servers:write': 'Add, change and remove servers',
  'secrets:write': 'Set the secrets of servers',
  admin: 'Administer everything: members, tokens, rules and servers',
};

/** Lists for people what a program may do. */
export const listScopes = (scopes: readonly Scope[]): Html => html`
  <ul>
    ${scopes.map(scope => html`<li>${SCOPES[scope]}</li>`)}
  </ul>
`;

/** Describes the program that asks. Its name is its own claim; for a program with a document, the domain is shown. */
export function whoAsks({ kind, id, name }: OAuthClient): Html {
  if (kind === 'document') return html`${name}, a program of <strong>${new URL(id).host}</strong>`;
  if (kind === 'manual') return html`${name}, which an administrator of this gateway added`;
  return html`a program that calls itself ${name}; <strong>nobody checked that</strong>`;
}

/** Shows an error after which nothing can be done on the page. */
export const showProblem = (message: string): Html => html`
  <h1>This did not work</h1>
  <p role="alert">${message}</p>
`;

/** Shows as whom the person decides. */
export const showSignedIn = ({ name }: SignedIn): Html => html`
  <form method="post" action="/sign-out" class="aside">
    <p>You are signed in as ${name}.</p>
    <button type="submit" class="link">Sign out</button>
  </form>
`;
