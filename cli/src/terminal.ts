/**
 * The only place that writes to standard output: nothing but data, so that a program can read it. Messages for people and questions to them
 * go to standard error. Lint refuses `console` and `process.stdout` everywhere else in the command line.
 */

import { createInterface } from 'node:readline';
import colors from 'picocolors';
import { toSafeJson } from './output/json.ts';
import { formatTable } from './output/table.ts';

/** Writes data. Resolves when the reader has taken it, so that nothing piles up; rejects where the reader is gone. */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, error => (error ? reject(error) : resolve()));
  });
}

/**
 * Writes others' text: to a program as it is, to a terminal with the characters in it that control one made visible.
 * @param toSafe makes them visible
 */
export function writeForeign(text: string, toSafe: (text: string) => string): Promise<void> {
  return writeOut(outputColumns() === undefined ? text : toSafe(text));
}

/** Writes a value as JSON; characters in it that control a terminal are escaped. */
export function writeJson(value: unknown): Promise<void> {
  return writeOut(`${toSafeJson(JSON.stringify(value, null, 2))}\n`);
}

/** Colours of states. */
const STATES: Readonly<Record<string, (text: string) => string>> = {
  CONNECTED: colors.green,
  ERROR: colors.red,
  DEGRADED: colors.yellow,
};

export interface TableLook {
  /** Wrap the last column instead of cutting it. */
  last?: 'wrap';
  /** Colour the words of states. */
  hasStates?: boolean;
}

/** Writes rows as a table as wide as the terminal. */
export function writeTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { last, hasStates = false }: TableLook = {},
): Promise<void> {
  const look = { columns: outputColumns(), paint: colors.bold, ...(last ? { last } : {}) };
  const table = formatTable(heading, rows, look);
  if (!hasStates) return writeOut(table);
  // Colours are added to whole words after the layout, so that they do not change widths.
  return writeOut(
    table.replaceAll(
      / (CONNECTED|ERROR|DEGRADED) /g,
      (_all, word: string) => ` ${STATES[word]?.(word) ?? word} `,
    ),
  );
}

/** Writes one line for people to standard error. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Shows progress on one line of a terminal, which the next call replaces; an empty text clears it. Nothing is written if standard error is
 * not a terminal.
 */
export function noteProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text}`);
}

/** Width of the terminal that data goes to; undefined where it goes elsewhere. */
export function outputColumns(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}

/** Calls `onGone` when the reader of standard output is gone; no error is thrown then. */
export function watchOutput(onGone: () => void): void {
  process.stdout.on('error', onGone);
}

/** Whether a person can be asked. */
export const isTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** A person who can be asked. Answers are undefined once they end the input or press Ctrl-C. */
export interface Asked {
  /** Returns one line; typed-ahead or pasted lines count. */
  ask(question: string): Promise<string | undefined>;
  /** The same for a decision: only a line typed after the question was shown counts. */
  confirm(question: string): Promise<string | undefined>;
}

/** Asks a person several questions. */
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

/** Asks a person one question. */
export const askLine = (question: string): Promise<string | undefined> =>
  withPrompter(prompter => prompter.ask(question));
