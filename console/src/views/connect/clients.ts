/** The clients that can be connected, how each signs its user in, and the URLs to connect to. Pure. */
import {
  CLIENTS,
  titleOf,
  type Client,
  toClientText,
} from '../../../../src/servers/transfer/client-config.ts';

export { toInstallLink } from '../../../../src/servers/transfer/client-config.ts';

/** A client with its own file or command, or any other that takes a URL. */
export type Choice = Client | 'other';

/** How to sign in with each client, from its documentation; a client that is missing here only takes a token. */
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

/** The choices with their titles. */
export const CHOICES: readonly (readonly [Choice, string])[] = [
  ...CLIENTS.map(client => [client, titleOf(client).replace(/ \(.*/, '')] as const),
  ['other', 'Another client, claude.ai or ChatGPT'],
];

/** Reads the choice from the address of the page; the first one if it is invalid. */
export const toChoice = (text: string | null): Choice =>
  CHOICES.find(([choice]) => choice === text)?.[0] ?? 'claude-code';

/** How to sign in with a client; undefined where it only takes a token. */
export const signingInOf = (choice: Choice): string | undefined => SIGNING_IN[choice];

/** Title for what is shown: the client and the place it belongs to. */
export const placeOf = (choice: Choice): string =>
  choice === 'other' ? 'Any client' : titleOf(choice);

/** `!` is harmless in a URL, but special to some shells. */
const encode = (name: string) => encodeURIComponent(name).replaceAll('!', '%21');

/** The URL for a client. @param toolset its name; empty: all servers */
export function toUrl(origin: string, choice: Choice, toolset: string): string {
  const path = toolset === '' ? '/mcp' : `/mcp/toolsets/${encode(toolset)}`;
  return `${origin}${path}${choice === 'curl' ? '' : '?names=underscore'}`;
}

/** The text to paste. @param token undefined: leave a placeholder; null: none, since the client signs its user in */
export function toText(choice: Choice, url: string, token: string | null | undefined): string {
  if (choice !== 'other') return toClientText(choice, url, token === null ? 'sign-in' : { token });
  return token === null ? url : `${url}\nAuthorization: Bearer ${token ?? 'YOUR_TOKEN'}`;
}
