/** The clients that somebody can connect, how each signs its user in, and the addresses there are to connect to. Pure. */
import {
  CLIENTS,
  titleOf,
  type Client,
  toClientText,
} from '../../../../src/servers/transfer/client-config.ts';

export { toInstallLink } from '../../../../src/servers/transfer/client-config.ts';

/** A client with a file or a command of its own, or any other that takes an address. */
export type Choice = Client | 'other';

/** What a client does for somebody to sign in; what is not here takes a token only. From the documentation of the clients. */
const SIGNING_IN: Readonly<Partial<Record<Choice, string>>> = {
  'claude-code': 'Then start Claude Code, type /mcp, and choose portico to sign in.',
  'claude-desktop': 'Restart Claude Desktop: a browser opens to sign in.',
  cursor: 'Cursor asks you to sign in.',
  vscode: 'VS Code asks you to sign in when it starts the server.',
  codex: 'Then run: codex mcp login portico',
  windsurf: 'Refresh the list of MCP servers in Windsurf; it asks you to sign in.',
  zed: 'Zed asks you to sign in.',
  'gemini-cli': 'Then start Gemini CLI and type: /mcp auth portico',
  other: 'Give the client this address. In claude.ai and ChatGPT it is that of a custom connector.',
};

/** The choices, with what they are called. */
export const CHOICES: readonly (readonly [Choice, string])[] = [
  ...CLIENTS.map(client => [client, titleOf(client).replace(/ \(.*/, '')] as const),
  ['other', 'Another client, claude.ai or ChatGPT'],
];

/** What is chosen by a text from the address of the page; the first where it is none. */
export const toChoice = (text: string | null): Choice =>
  CHOICES.find(([choice]) => choice === text)?.[0] ?? 'claude-code';

/** How somebody signs in with a client; undefined where it takes a token only. */
export const signingInOf = (choice: Choice): string | undefined => SIGNING_IN[choice];

/** What it is that is shown for a client, with where it belongs. */
export const placeOf = (choice: Choice): string =>
  choice === 'other' ? 'Any client' : titleOf(choice);

/** `!` is nothing to a URL, but to some shells it is. */
const encode = (name: string) => encodeURIComponent(name).replaceAll('!', '%21');

/** The URL for a client. @param toolset its name; empty: all servers */
export function toUrl(origin: string, choice: Choice, toolset: string): string {
  const path = toolset === '' ? '/mcp' : `/mcp/toolsets/${encode(toolset)}`;
  return `${origin}${path}${choice === 'curl' ? '' : '?names=underscore'}`;
}

/** What somebody pastes. @param token undefined: a place is left for it; null: none, since the client signs its user in */
export function toText(choice: Choice, url: string, token: string | null | undefined): string {
  if (choice !== 'other') return toClientText(choice, url, token === null ? 'sign-in' : { token });
  return token === null ? url : `${url}\nAuthorization: Bearer ${token ?? 'YOUR_TOKEN'}`;
}
