/**
 * The one place that writes to standard output: data and nothing else, so that a program can read it. What is meant for
 * people only goes to standard error, and so do questions to the one at the terminal. Lint refuses `console` and `process.stdout` everywhere else in the command line.
 */

import { createInterface } from 'node:readline';
import colors from 'picocolors';
import { toSafeJson } from './output/json.ts';
import { formatTable } from './output/table.ts';

/** Write data. Resolves when the reader has taken it, so that nothing piles up; rejects where the reader is gone. */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, error => (error ? reject(error) : resolve()));
  });
}

/** Write a value for programs; outside text in it does nothing to a terminal. */
export function writeJson(value: unknown): Promise<void> {
  return writeOut(`${toSafeJson(JSON.stringify(value, null, 2))}\n`);
}

/** How the words of a state are painted. */
const STATES: Readonly<Record<string, (text: string) => string>> = {
  CONNECTED: colors.green,
  ERROR: colors.red,
  DEGRADED: colors.yellow,
};

export interface TableLook {
  /** The last column is wrapped in place of cut. */
  last?: 'wrap';
  /** Words of states are painted. */
  hasStates?: boolean;
}

/** Write rows as a table as wide as the terminal. */
export function writeTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { last, hasStates = false }: TableLook = {},
): Promise<void> {
  const look = { columns: outputColumns(), paint: colors.bold, ...(last ? { last } : {}) };
  const table = formatTable(heading, rows, look);
  if (!hasStates) return writeOut(table);
  // Only whole words are painted, after everything has its place.
  return writeOut(
    table.replaceAll(
      / (CONNECTED|ERROR|DEGRADED) /g,
      (_all, word: string) => ` ${STATES[word]?.(word) ?? word} `,
    ),
  );
}

/** Say one line to people, on standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Show people what is under way, on one line that the next takes the place of; an empty one takes it away. Nothing but a terminal gets it. */
export function noteProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
}

/** Columns of the terminal that data goes to; undefined where it goes elsewhere. */
export function outputColumns(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

/** Call `onGone` when the reader of standard output goes away; nothing is thrown then. */
export function watchOutput(onGone: () => void): void {
  process.stdout.on('error', onGone);
}

/** Whether there is a person to ask. */
export const isTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** A person who can be asked. Answers are undefined where it ends its input or presses Ctrl-C, now or before. */
export interface Asked {
  /** One line; what was written ahead, or pasted, counts. */
  ask(question: string): Promise<string | undefined>;
  /** The same where somebody has to decide: only what is written after the question was shown counts. */
  confirm(question: string): Promise<string | undefined>;
}

/** Ask a person several things. */
export async function withPrompter<T>(work: (prompter: Asked) => Promise<T>): Promise<T> {
  const { stdin: input, stderr: output } = process;
  const lines = createInterface({ input, output, terminal: true });
  const ahead: string[] = [];
  let isGone = false;
  let waiting: ((line: string | undefined) => void) | undefined;
  const take = (line: string | undefined) => {
    waiting?.(line);
    waiting = undefined;
  };
  const leave = () => {
    isGone = true;
    take(undefined);
  };
  lines.on('line', line => (waiting ? take(line) : ahead.push(line)));
  lines.once('close', leave);
  lines.once('SIGINT', leave);
  const ask = (question: string): Promise<string | undefined> => {
    const line = ahead.shift();
    if (line !== undefined) note(`${question}${line}`);
    if (line !== undefined || isGone) return Promise.resolve(line);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    waiting = resolve;
    lines.setPrompt(question);
    lines.prompt();
    return promise;
  };
  try {
    return await work({
      ask,
      confirm(question) {
        ahead.length = 0;
        return ask(question);
      },
    });
  } finally {
    lines.close();
  }
}

/** Ask a person one thing. */
export const askLine = (question: string): Promise<string | undefined> =>
  withPrompter(prompter => prompter.ask(question));
