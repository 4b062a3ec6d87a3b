/**
 * Finds the flags after a tool's name that belong to `portico call` itself: `--json`, `--args` and the like. If the tool has a parameter of
 * that name, the flag belongs to the tool, and the command's own flag must stand before the tool's name. The gateway and the token can only
 * be given before the name: a tool's `--url` must never become the address that a token is sent to. Pure.
 */
import { EXIT, Failure } from '../failure.ts';

export interface CallFlags {
  json?: boolean | undefined;
  args?: string | undefined;
  argsFile?: string | undefined;
  help?: boolean | undefined;
  /** False: do not accept a cached result. */
  cache?: boolean | undefined;
  /** False: show the page's address, but do not open it. */
  browser?: boolean | undefined;
}

const WITH_VALUE = new Map<string, 'args' | 'argsFile'>([
  ['args', 'args'],
  ['args-file', 'argsFile'],
]);

/**
 * @param isTheTools whether the flag sets a parameter of the tool
 * @returns the command's own options, and the remaining words for the tool
 */
export function splitFlags(
  words: readonly string[],
  isTheTools: (flag: string) => boolean,
): { own: CallFlags; rest: string[] } {
  const own: CallFlags = {};
  const rest: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [, name = '', given] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const key = WITH_VALUE.get(name);
    if (name === '' || isTheTools(name)) rest.push(word);
    else if (name === 'json' && given === undefined) own.json = true;
    else if (name === 'help' && given === undefined) own.help = true;
    else if (name === 'no-cache' && given === undefined) own.cache = false;
    else if (name === 'no-browser' && given === undefined) own.browser = false;
    else if (key === undefined) rest.push(word);
    else {
      const value = given ?? words[at + 1];
      if (value === undefined) throw new Failure(`--${name} needs a value`, EXIT.usage);
      if (given === undefined) at += 1;
      own[key] = value;
    }
  }
  return { own, rest };
}
