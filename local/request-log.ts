/**
 * The lines of requests that the Worker writes, in a file of their own that cannot grow without end. They are gathered for a moment and
 * written together; at its limit the file becomes `NAME.1` (replacing the one before) and starts anew. A disk that refuses is no reason
 * to stop the gateway, so such lines are lost.
 */
import { appendFileSync, renameSync, statSync } from 'node:fs';

const MAX_BYTES = 16_777_216;
/** Lines are gathered this long, in milliseconds, and no more than so many characters of them. */
const GATHER_MS = 100;
const MAX_GATHERED_CHARS = 1_048_576;

export interface RequestLog {
  readonly path: string;
  /** Takes a line, without its line feed. */
  write(line: string): void;
  /** Writes what was gathered. */
  flush(): void;
}

/** @param maxBytes bounds each of its two files */
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
      // Nowhere to say it.
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
