/**
 * `mcp-remote` in an `mcp.json`: a program that only leads on to a URL, which hosts that know stdio alone are given. What it
 * leads to is registered instead. Flags that say nothing about the server are left out. Pure.
 */
import type { NetworkTransport } from '../registry/server-schema.ts';

export interface WrappedRemote {
  url: string;
  headers: Record<string, string>;
  /** Where a flag says so. */
  transport?: NetworkTransport;
}

const PACKAGE = /^(?:.*[/\\])?mcp-remote(?:@[\w.^~-]+)?(?:[/\\].*)?$/;
/** `Name:value` and `Name: value`. */
const HEADER = /^([^:\s]+):\s*(.*)$/s;

/**
 * @param env variables of the program; `${NAME}` in a header stands for one of them
 * @returns undefined where the program is another one, or leads to no URL
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

/** Each flag of a name with the word behind it. */
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
