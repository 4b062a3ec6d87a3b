/**
 * A log file that cannot grow without end: at its limit it becomes `NAME.1` (replacing the one before) and starts anew.
 * Lines get the time. Writing is synchronous, so that what was said before a crash is there after it; a disk that
 * refuses is no reason to stop the gateway, so such lines are lost.
 */
import { appendFileSync, renameSync, statSync } from 'node:fs';

const MAX_BYTES = 1_048_576;

export interface LogFile {
  readonly path: string;
  /** Append a text; each of its lines gets the time and the source. */
  write(source: string, text: string): void;
}

/** Open the log file at a path; it is made with the first line. `maxBytes` bounds each of its two files. */
export function openLogFile(path: string, maxBytes: number = MAX_BYTES): LogFile {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    path,
    write(source, text) {
      const prefix = `${new Date().toISOString()} ${source}: `;
      const lines = text.split('\n').filter(line => line.trim() !== '');
      const chunk = lines
        .map(line => `${prefix}${line}\n`)
        .join('')
        .slice(0, maxBytes);
      try {
        if (size > 0 && size + chunk.length > maxBytes) {
          renameSync(path, `${path}.1`);
          size = 0;
        }
        appendFileSync(path, chunk, { mode: 0o600 });
        size += chunk.length;
      } catch {
        // Nowhere to say it.
      }
    },
  };
}
