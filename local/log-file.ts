/**
 * A log file of bounded size: at its limit it becomes `NAME.1` (replacing the former one) and a new file begins. Each line gets the time.
 * Writes are synchronous, so that what was logged before a crash is there after it. A disk error must not stop the gateway, so such lines
 * are lost.
 */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openRequestLog } from './request-log.ts';

const MAX_BYTES = 1_048_576;

/** File beside the log with the lines of requests. */
export const REQUESTS = 'requests.ndjson';

export interface LogFile {
  readonly path: string;
  /** Appends a text; each of its lines gets the time and the source. */
  write(source: string, text: string): void;
  /** Writes the line of a request, to a separate file. */
  request(line: string): void;
}

/**
 * Opens the log file at a path; the file is created with the first line.
 * @param maxBytes maximum size of each of its two files
 * @param onRequest also called with each line of a request
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
      const whole = Buffer.from(lines.map(line => `${prefix}${line}\n`).join(''));
      const chunk = whole.subarray(0, maxBytes);
      try {
        if (size > 0 && size + chunk.length > maxBytes) {
          renameSync(path, `${path}.1`);
          size = 0;
        }
        appendFileSync(path, chunk, { mode: 0o600 });
        size += chunk.length;
      } catch {
        // There is nowhere to report it.
      }
    },
  };
}
