/**
 * The configurations that a start shows on the terminal: those of the commonest clients, from the same source as the export of
 * the API. Pure text.
 */
import { toClientConfig } from '../src/servers/transfer/client-config.ts';
import type { Client, ClientConfig } from '../src/servers/transfer/client-config.ts';

const SHOWN: readonly Client[] = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'curl'];

/**
 * The snippets for a gateway.
 * @param origin without a slash at its end
 * @param token the token, or undefined to leave a place for it
 */
export function createSnippets(origin: string, token: string | undefined): ClientConfig[] {
  return SHOWN.map(client => toClientConfig(client, origin, token));
}
