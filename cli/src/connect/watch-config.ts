/** Watches the `mcp.json` of a running command, and says of each edit what became of it. */
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { toLine } from './one-line.ts';
import type { View } from './view.ts';

/** How often the file is looked at, in milliseconds; by polling, since editors put another file in its place. */
const LOOK_MS = 1_000;
const MAX_REASON_CHARS = 500;

/**
 * @param apply takes the new text and returns what was done, in words; what it throws is said, and all goes on as before
 * @returns the function that ends it
 */
export function watchConfig(
  file: string,
  apply: (text: string) => Promise<string>,
  view: Pick<View, 'note'>,
): () => void {
  let known = tryRead(file);
  // One edit after the other.
  let applying = Promise.resolve();
  const look = async (): Promise<void> => {
    const text = tryRead(file);
    if (text === known) return;
    known = text;
    // A file that is gone for a moment is being replaced.
    if (text === undefined) return view.note(`${file} is gone; all goes on as before`, 'busy');
    try {
      view.note(`${file} was edited: ${await apply(text)}`, 'good');
    } catch (error) {
      const reason = toLine(error instanceof Error ? error.message : '', MAX_REASON_CHARS);
      view.note(`${file} was edited and is not applied: ${reason}`, 'bad');
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
