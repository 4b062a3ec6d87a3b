/**
 * The client configurations that a start shows on the terminal: those of the most common clients, from the same source as the API's export.
 * Pure text.
 */
import { toClientConfig } from '../src/servers/transfer/client-config.ts';
import type { Client, ClientConfig } from '../src/servers/transfer/client-config.ts';

const SHOWN: readonly Client[] = ['claude-code', 'claude-desktop', 'cursor', 'vscode', 'curl'];

/**
 * Returns the snippets for a gateway.
 * @param origin without a trailing slash
 * @param token undefined leaves a placeholder
 */
export function createSnippets(origin: string, token: string | undefined): ClientConfig[] {
  return SHOWN.map(client => toClientConfig(client, origin, token));
}
