/**
 * Unwraps `mcp-remote` in an `mcp.json`: a program that only forwards to a URL, used in hosts that support stdio alone. The import
 * registers the URL instead. Flags that say nothing about the server are dropped. Pure.
 */
import type { NetworkTransport } from '../registry/server-schema.ts';

export interface WrappedRemote {
  url: string;
  headers: Record<string, string>;
  /** Set if a flag names it. */
  transport?: NetworkTransport;
}

const PACKAGE = /^(?:.*[/\\])?mcp-remote(?:@[\w.^~-]+)?(?:[/\\].*)?$/;
/** `Name:value` and `Name: value`. */
const HEADER = /^([^:\s]+):\s*(.*)$/s;

/**
 * @param env variables of the program; `${NAME}` in a header or in the URL stands for one of them
 * @returns undefined if it is another program, or has no URL
 */
export function unwrapMcpRemote(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): WrappedRemote | undefined {
  const words = [command, ...args];
  const at = words.findIndex(word => PACKAGE.test(word));
  const url = words.slice(at + 1).find(word => /^https?:\/\//.test(word));
  if (at === -1 || url === undefined) return undefined;
  const headers: [string, string][] = [];
  for (const [, text] of flags(words, '--header')) {
    const [, name, value] = HEADER.exec(text) ?? [];
    if (name !== undefined && value !== undefined) headers.push([name, fill(value, env)]);
  }
  const [transport] = flags(words, '--transport').map(([, text]) => text);
  return {
    url: fill(url, env),
    headers: Object.fromEntries(headers),
    ...(transport === undefined ? {} : { transport: transport.startsWith('sse') ? 'SSE' : 'HTTP' }),
  };
}

/** Lists each flag with this name and the word after it. */
function flags(words: readonly string[], name: string): [string, string][] {
  return words.flatMap((word, index): [string, string][] => {
    const value = words[index + 1];
    return word === name && value !== undefined ? [[name, value]] : [];
  });
}

function fill(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(env, name) ? (env[name] ?? whole) : whole,
  );
}
