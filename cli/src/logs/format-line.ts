/** One request of the log as a line for people. Pure. */
import type { LogLine } from './read-log.ts';

/** Enough of an id to find its trace by. */
const SHOWN_ID = 12;

/** How parts of a line look. */
export interface LinePaint {
  dim(text: string): string;
  warn(text: string): string;
  bad(text: string): string;
}

/** Time of day, what was asked, how it ended, how long it took, and the beginning of its trace. */
export function formatLine(line: LogLine, paint: LinePaint): string {
  const { time, level, method = '', route, server, outcome, code, duration_ms: all } = line;
  const item = line.tool ?? line.prompt;
  const target = [server, item].filter(part => part !== undefined).join('.') || route || '';
  const why = outcome === 'ok' ? '' : ` ${code ?? line.status ?? ''}`.trimEnd();
  const ended = printable(`${outcome}${why}${line.cached ? ' from the cache' : ''}`);
  const paints = { info: (text: string) => text, warn: paint.warn, error: paint.bad };
  const upstream =
    line.upstream_ms === undefined ? '' : ` (${toMs(line.upstream_ms)} at its server)`;
  const parts = [
    paint.dim(printable(time.slice(11, 23))),
    printable(method),
    printable(target),
    paints[level](ended),
    `${toMs(all)}${upstream}`,
    paint.dim(printable(line.trace_id?.slice(0, SHOWN_ID) ?? '')),
  ];
  return parts
    .filter(part => part !== '')
    .join('  ')
    .trimEnd();
}

const toMs = (milliseconds: number) => `${Math.round(milliseconds)} ms`;

/** Without what would steer a terminal, or be read as something else than it is. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
