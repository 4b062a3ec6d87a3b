/** Wording and layout of what `portico connect` shows. Pure; the views add colours and move the cursor. */
import type { Counts } from './connection.ts';
import type { LinkState } from './dialler.ts';
import { toLine } from './one-line.ts';
import type { ServerState } from './server-adapter.ts';

/** Meaning of a line's part, shown as a colour. */
export type Tone = 'good' | 'busy' | 'bad' | 'faint' | 'plain';

/** The parts of one line. */
export type Line = readonly (readonly [text: string, tone: Tone])[];

/** One server as it is shown. */
export interface Row {
  name: string;
  state: ServerState;
  /** Why it is in this state; empty if there is nothing to say. */
  reason: string;
  /** Why the registry did not accept it, if it did not. */
  problem: string | undefined;
  /** Its name in the registry, if that differs. */
  alias: string | undefined;
}

/** Everything that is shown. */
export interface Picture {
  origin: string;
  link: LinkState;
  rows: readonly Row[];
  /** Progress of the start. */
  progress?: string | undefined;
  counts: Counts | undefined;
}

const TONES: Readonly<Record<ServerState, Tone>> = {
  starting: 'busy',
  ready: 'good',
  failed: 'bad',
  stopped: 'faint',
};
const MARKS: Readonly<Record<Tone, string>> = {
  good: '●',
  busy: '◌',
  bad: '✗',
  faint: '○',
  plain: ' ',
};
const MAX_NAME_CHARS = 80;
const MAX_REASON_CHARS = 500;

/** State of the connection, in words. */
export function toLinkText(link: LinkState): { text: string; tone: Tone } {
  switch (link.kind) {
    case 'dialling':
      return { text: 'connecting', tone: 'busy' };
    case 'connected':
      return { text: `connected as ${toLine(link.connector, MAX_NAME_CHARS)}`, tone: 'good' };
    case 'waiting': {
      const seconds = (link.waitMs / 1000).toFixed(1);
      return { text: `${toLine(link.reason, 200)}; retrying in ${seconds} s`, tone: 'bad' };
    }
    case 'draining': {
      const what = link.channels === 1 ? 'request' : 'requests';
      return { text: `stopping: ${link.channels} ${what} running`, tone: 'busy' };
    }
    case 'closed':
      return { text: 'disconnected', tone: 'faint' };
  }
}

/** State of a server, in words: `failed: exited with code 1`. */
export function toRowText({ state, reason, problem, alias }: Row): string {
  if (problem !== undefined) return `not registered: ${toLine(problem, MAX_REASON_CHARS)}`;
  const how = alias === undefined ? state : `${state} as ${toLine(alias, MAX_NAME_CHARS)}`;
  return reason === '' ? how : `${how}: ${toLine(reason, MAX_REASON_CHARS)}`;
}

/** Traffic of the connection, in words. */
export function toCountsText({ channels, ...counts }: Counts): string {
  const inward = `${counts.framesIn} frames in (${toSize(counts.bytesIn)})`;
  return `${channels} running, ${inward}, ${counts.framesOut} out (${toSize(counts.bytesOut)})`;
}

/** Returns the whole picture as lines that fit. @param columns at least 20 @param height lines available */
export function toLines(picture: Picture, columns: number, height: number): Line[] {
  const { origin, link, counts, progress } = picture;
  const { text, tone } = toLinkText(link);
  const lines: Line[] = [
    [
      [`${MARKS[tone]} ${text}`, tone],
      [`  ${origin}`, 'faint'],
    ],
  ];
  if (progress !== undefined) lines.push([[`◌ ${progress}`, 'busy']]);
  if (counts) lines.push([[`  ${toCountsText(counts)}`, 'faint']]);
  const { shown, hidden } = fit(picture.rows, Math.max(1, height - lines.length));
  const width = Math.max(0, ...shown.map(({ name }) => Array.from(name).length));
  lines.push(...shown.map(row => toRowLine(row, width)));
  if (hidden > 0) lines.push([[`  … and ${hidden} more`, 'faint']]);
  return lines.map(line => cut(line, columns));
}

function toRowLine(row: Row, width: number): Line {
  const tone = row.problem === undefined ? TONES[row.state] : 'bad';
  const name = row.name + ' '.repeat(width - Array.from(row.name).length);
  const [head = '', ...rest] = toRowText(row).split(': ');
  return [
    [`  ${MARKS[tone]} `, tone],
    [`${name}  `, 'plain'],
    [head, tone],
    [rest.length === 0 ? '' : `  ${rest.join(': ')}`, 'faint'],
  ];
}

/** The rows that fit, in their order; if not all do, rows of healthy servers are left out first. */
function fit(rows: readonly Row[], room: number): { shown: readonly Row[]; hidden: number } {
  if (rows.length <= room) return { shown: rows, hidden: 0 };
  const isWell = (row: Row) => row.problem === undefined && row.state !== 'failed';
  const sorted = rows.toSorted((a, b) => Number(isWell(a)) - Number(isWell(b)));
  const kept = new Set(sorted.slice(0, Math.max(0, room - 1)));
  return { shown: rows.filter(row => kept.has(row)), hidden: rows.length - kept.size };
}

/** Cuts a line to a width; a cut part ends with "…". */
function cut(line: Line, columns: number): Line {
  let room = columns;
  return line.flatMap(([text, tone]): [string, Tone][] => {
    const characters = Array.from(text);
    if (room <= 0 || characters.length === 0) return [];
    const isCut = characters.length > room;
    const kept = isCut ? `${characters.slice(0, room - 1).join('')}…` : text;
    room -= characters.length;
    return [[kept, tone]];
  });
}

function toSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes / 1024;
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit += 1) size /= 1024;
  return `${size.toFixed(1)} ${units[unit]}`;
}
