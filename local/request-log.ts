/**
 * The log lines of requests from the Worker, in a separate file of bounded size. Lines are gathered for a moment and written together. At
 * its limit the file becomes `NAME.1` (replacing the former one) and a new file begins. A disk error must not stop the gateway, so such
 * lines are lost.
 */
import { appendFileSync, renameSync, statSync } from 'node:fs';

const MAX_BYTES = 16_777_216;
/** Lines are gathered for this time, in milliseconds, and up to this number of characters. */
const GATHER_MS = 100;
const MAX_GATHERED_CHARS = 1_048_576;

export interface RequestLog {
  readonly path: string;
  /** Takes a line, without its line feed. */
  write(line: string): void;
  /** Writes the gathered lines. */
  flush(): void;
}

/** @param maxBytes maximum size of each of its two files */
export function openRequestLog(path: string, maxBytes: number = MAX_BYTES): RequestLog {
  let gathered = '';
  let timer: NodeJS.Timeout | undefined;
  let size: number | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = gathered;
    gathered = '';
    if (text === '') return;
    try {
      size ??= statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      const bytes = Buffer.byteLength(text);
      if (size > 0 && size + bytes > maxBytes) {
        renameSync(path, `${path}.1`);
        size = 0;
      }
      appendFileSync(path, text, { mode: 0o600 });
      size += bytes;
    } catch {
      // There is nowhere to report it.
    }
  };
  return {
    path,
    write(line) {
      gathered += `${line}\n`;
      if (gathered.length >= MAX_GATHERED_CHARS) flush();
      else timer ??= setTimeout(flush, GATHER_MS).unref();
    },
    flush,
  };
}
