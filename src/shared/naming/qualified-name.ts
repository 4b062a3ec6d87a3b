/**
 * Qualified tool names: `server.tool` and the other forms that a call accepts (MCP-8). Pure. A server's name never
 * contains `.`, `:` or `/`, so these split it off exactly; `__` may occur in both parts and is resolved against the
 * existing servers.
 *
 * The underscore style suits hosts that allow `[A-Za-z0-9_-]{1,64}` only: other characters become `_`, and a name that
 * changed or is too long ends in a hash of the whole name, so that it stays unique and can be found again through the
 * catalog.
 */
import { MAX_SERVER_NAME } from '../util/name-limits.ts';
import { SHORT_HASH_CHARS, shortHash } from '../crypto/short-hash.ts';

export type NameStyle = 'dot' | 'colon' | 'underscore';

const SEPARATORS: Record<NameStyle, string> = { dot: '.', colon: ':', underscore: '__' };
const MAX_UNDERSCORE_NAME = 64;

/** Returns the name under which a tool is presented. */
export function toQualifiedName(server: string, tool: string, style: NameStyle): string {
  const name = `${server}${SEPARATORS[style]}${tool}`;
  if (style !== 'underscore') return name;
  const fitting = name.replaceAll(/[^A-Za-z0-9_-]/gu, '_');
  if (fitting === name && name.length <= MAX_UNDERSCORE_NAME) return name;
  const head = fitting.slice(0, MAX_UNDERSCORE_NAME - SHORT_HASH_CHARS - 1);
  return `${head}_${shortHash(name)}`;
}

/** One possible split of a qualified name; several for `__`, best first. */
export interface NameParts {
  server: string;
  tool: string;
}

/**
 * Returns the possible splits of a qualified name.
 * @returns empty if the name has no server part
 */
export function parseQualifiedName(name: string): NameParts[] {
  const at = name.search(/[.:/]/);
  const guesses: NameParts[] = [];
  if (at > 0) guesses.push({ server: name.slice(0, at), tool: name.slice(at + 1) });
  // No server has a longer name, and each guess costs a look-up.
  const limit = Math.min(at === -1 ? name.length : at, MAX_SERVER_NAME + 1);
  for (let i = name.indexOf('__', 1); i !== -1 && i < limit; i = name.indexOf('__', i + 1)) {
    guesses.push({ server: name.slice(0, i), tool: name.slice(i + 2) });
  }
  return guesses;
}
