/** Formats one request of the log as a line for people. Pure. */
import type { LogLine } from './read-log.ts';

/** Digits that are enough to find a trace. */
const SHOWN_ID = 12;

/** Styles for the parts of a line. */
export interface LinePaint {
  dim(text: string): string;
  warn(text: string): string;
  bad(text: string): string;
}

/** Time of day, method and target, outcome, duration, and the start of the trace id. */
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

/** Replaces characters that control a terminal or change how text reads. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '\uFFFD');
