/**
 * A server's headers in storage: sealed, and bound to the server and the origin they were given
 * for, so that a row moved to another server or address opens nothing.
 */
import type { KeyRing } from './key-ring.ts';

/** What a ciphertext is bound to: version, server, origin and field. */
function boundTo(serverId: string, url: string): string {
  return `1|${serverId}|${new URL(url).origin}|headers`;
}

/** Seal headers for storage. */
export function sealHeaders(
  keys: KeyRing,
  serverId: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  return keys.seal('credential', JSON.stringify(headers), boundTo(serverId, url));
}

/** The headers with their names in lower case, or undefined where they do not belong here. */
export async function openHeaders(
  keys: KeyRing,
  serverId: string,
  url: string,
  sealed: string,
): Promise<Record<string, string> | undefined> {
  const text = await keys.open('credential', sealed, boundTo(serverId, url));
  if (text === undefined) return undefined;
  const entries = Object.entries(JSON.parse(text) as Record<string, string>);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}
