/**
 * Which of the words after a tool's name belong to `portico call` itself: `--json`, `--args` and the like, unless the tool has
 * a parameter of that name; then it is the tool's, and the command's own stands before the tool's name. Where the gateway is and
 * who calls is said before the name only: a tool's `--url` must never become the place that a token is sent to. Pure.
 */
import { EXIT, Failure } from '../failure.ts';

export interface CallFlags {
  json?: boolean | undefined;
  args?: string | undefined;
  argsFile?: string | undefined;
  help?: boolean | undefined;
  /** False: a cached result will not do. */
  cache?: boolean | undefined;
  /** False: a page is shown, and not opened. */
  browser?: boolean | undefined;
}

const WITH_VALUE = new Map<string, 'args' | 'argsFile'>([
  ['args', 'args'],
  ['args-file', 'argsFile'],
]);

/**
 * @param isTheTools whether the tool has a parameter that a flag names
 * @returns the command's own options, and the words that are left for the tool
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
