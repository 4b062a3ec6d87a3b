/** What the pages have in common on which somebody allows a program in: who asks, what it may, and who is asked. */
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

/** What a program may do, for people. */
export const listScopes = (scopes: readonly Scope[]): Html => html`
  <ul>
    ${scopes.map(scope => html`<li>${SCOPES[scope]}</li>`)}
  </ul>
`;

/** The name is what a program says of itself; a document shows the domain that it is of. */
export function whoAsks({ kind, id, name }: OAuthClient): Html {
  if (kind === 'document') return html`${name}, a program of <strong>${new URL(id).host}</strong>`;
  if (kind === 'manual') return html`${name}, which an administrator of this gateway added`;
  return html`a program that calls itself ${name}; <strong>nobody checked that</strong>`;
}

/** What is wrong, where nothing can be done on the page. */
export const showProblem = (message: string): Html => html`
  <h1>This did not work</h1>
  <p role="alert">${message}</p>
`;

/** As whom somebody decides. */
export const showSignedIn = ({ name }: SignedIn): Html => html`
  <form method="post" action="/sign-out" class="aside">
    <p>You are signed in as ${name}.</p>
    <button type="submit" class="link">Sign out</button>
  </form>
`;
