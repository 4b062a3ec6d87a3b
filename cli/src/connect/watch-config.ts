/** Watches the `mcp.json` of a running command, and reports the outcome of each edit. */
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { toLine } from './one-line.ts';
import type { View } from './view.ts';

/** How often the file is checked, in milliseconds. Polled, since editors replace the file. */
const LOOK_MS = 1_000;
const MAX_REASON_CHARS = 500;

/**
 * @param apply takes the new text and returns what was done, in words; an error is reported, and everything stays as before
 * @returns a function that stops watching
 */
export function watchConfig(
  file: string,
  apply: (text: string) => Promise<string>,
  view: Pick<View, 'note'>,
): () => void {
  let known = tryRead(file);
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
  return () => unwatchFile(file, onChange);
}

function tryRead(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
