/**
 * A log file that cannot grow without end: at its limit it becomes `NAME.1` (replacing the one before) and starts anew.
 * Lines get the time. Writing is synchronous, so that what was said before a crash is there after it; a disk that
 * refuses is no reason to stop the gateway, so such lines are lost.
 */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openRequestLog } from './request-log.ts';

const MAX_BYTES = 1_048_576;

/** Beside the log: the lines of requests. */
export const REQUESTS = 'requests.ndjson';

export interface LogFile {
  readonly path: string;
  /** Append a text; each of its lines gets the time and the source. */
  write(source: string, text: string): void;
  /** Takes the line of a request; those have a file of their own. */
  request(line: string): void;
}

/**
 * Open the log file at a path; it is made with the first line.
 * @param maxBytes bounds each of its two files
 * @param onRequest told of the lines of requests too
 */
export function openLogFile(
  path: string,
  maxBytes: number = MAX_BYTES,
  onRequest?: (line: string) => void,
): LogFile {
  const requests = openRequestLog(join(dirname(path), REQUESTS));
  process.once('exit', requests.flush);
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    path,
    request(line) {
      requests.write(line);
      onRequest?.(line);
    },
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
