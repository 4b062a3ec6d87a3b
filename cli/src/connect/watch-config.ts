/** Reads the `mcp.json` of a command, watches it while the command runs, and reports the outcome of each edit. */
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { EXIT, Failure } from '../failure.ts';
import { toLine } from './one-line.ts';
import type { View } from './view.ts';

/** How often the file is checked, in milliseconds. Polled, since editors replace the file. */
const LOOK_MS = 1_000;
const MAX_REASON_CHARS = 500;

/** Returns the text of the file. @throws Failure where it cannot be read */
export function readConfigFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`${path} cannot be read (${code}); name a file with --config`, EXIT.usage);
  }
}

/**
 * @param applied the text that the command started with; where the file differs already, that is the first edit
 * @param apply takes the new text and returns what was done, in words; an error is reported, and everything stays as before
 * @returns a function that stops watching
 */
export function watchConfig(
  file: string,
  applied: string,
  apply: (text: string) => Promise<string>,
  view: Pick<View, 'note'>,
): () => void {
  let known: string | undefined = applied;
  // Edits are applied one after the other.
  let applying = Promise.resolve();
  const look = async (): Promise<void> => {
    const text = tryRead(file);
    if (text === known) return;
    known = text;
    // A file that is missing for a moment is being replaced.
    if (text === undefined)
      return view.note(`${file} is missing; everything keeps running`, 'busy');
    try {
      view.note(`${file} was edited: ${await apply(text)}`, 'good');
    } catch (error) {
      const reason = toLine(error instanceof Error ? error.message : '', MAX_REASON_CHARS);
      view.note(`${file} was edited, but not applied: ${reason}`, 'bad');
    }
  };
  const onChange = () => void (applying = applying.then(look));
  watchFile(file, { interval: LOOK_MS, persistent: false }, onChange);
  onChange();
  return () => unwatchFile(file, onChange);
}

function tryRead(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
