/**
 * Shows the state of `portico connect` on standard error: on a terminal a picture that is redrawn, elsewhere one line per change. It shows
 * names, states and counts; never a body, a token or a value of the environment.
 */
import pc from 'picocolors';
import type { Counts } from './connection.ts';
import type { LinkState } from './dialler.ts';
import { toCountsText, toLines, toLinkText, toRowText } from './view-text.ts';
import type { Line, Picture, Row, Tone } from './view-text.ts';

const DRAW_EVERY_MS = 50;
const COUNTS_EVERY_MS = 10_000;

export interface View {
  /** Shows a line that stays. */
  note(text: string, tone?: Tone): void;
  link(state: LinkState): void;
  row(row: Row): void;
  /** Progress of the start; undefined when it is over. */
  progress(text: string | undefined): void;
  counts(counts: Counts | undefined): void;
  /** Shows the final state, and nothing after it. */
  close(): void;
}

/** The part of a stream that a view uses. */
export interface Screen {
  write(text: string): unknown;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  on?(event: 'resize', listener: () => void): unknown;
}

/** Shows nothing. */
export const QUIET: View = {
  note() {},
  link() {},
  row() {},
  progress() {},
  counts() {},
  close() {},
};

/** Shows one line per change. @param now clock in milliseconds */
export function createLineView(screen: Screen, origin: string, now: () => number): View {
  const said = new Map<string, string>();
  let countedAt = now();
  const say = (who: string, what: string, change = what) => {
    if (said.get(who) === change) return;
    said.set(who, change);
    screen.write(`${who}: ${what}\n`);
  };
  return {
    note: text => void screen.write(`${text}\n`),
    link(state) {
      // A retry is not shown while it fails for the same reason.
      if (state.kind === 'dialling' && said.has(origin)) return;
      say(origin, toLinkText(state).text, state.kind === 'waiting' ? state.reason : state.kind);
    },
    row(row) {
      // Nor is a restart of a server that keeps failing.
      const isTry = row.state === 'starting' && row.problem === undefined;
      if (isTry && said.get(row.name)?.startsWith('ready') === false) return;
      say(row.name, toRowText(row));
    },
    progress: text => {
      if (text !== undefined) say('start', text);
    },
    counts(counts) {
      if (!counts || now() - countedAt < COUNTS_EVERY_MS) return;
      countedAt = now();
      say('traffic', toCountsText(counts));
    },
    close() {},
  };
}

/** Redraws one picture over the last. */
export function createLiveView(screen: Screen, origin: string, hasColors: boolean): View {
  const colors = pc.createColors(hasColors);
  const paint: Record<Tone, (text: string) => string> = {
    good: colors.green,
    busy: colors.yellow,
    bad: colors.red,
    faint: colors.dim,
    plain: text => text,
  };
  const picture: Picture & { rows: Row[] } = {
    origin,
    link: { kind: 'dialling' },
    rows: [],
    progress: undefined,
    counts: undefined,
  };
  let drawn: number[] = [];
  let timer: NodeJS.Timeout | undefined;

  const erase = (): string => {
    // A line drawn on a wider terminal may now take several rows.
    const columns = screen.columns || 80;
    const lines = drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    drawn = [];
    return lines === 0 ? '' : `\u001B[${lines}A\r\u001B[J`;
  };
  const draw = (before = '') => {
    clearTimeout(timer);
    timer = undefined;
    const lines = toLines(picture, (screen.columns || 80) - 1, (screen.rows || 24) - 1);
    const text = lines.map(line => `${line.map(([part, tone]) => paint[tone](part)).join('')}\n`);
    screen.write(erase() + before + text.join(''));
    drawn = lines.map(toWidth);
  };
  screen.on?.('resize', () => later());
  const later = () => void (timer ??= setTimeout(draw, DRAW_EVERY_MS));

  return {
    note: (text, tone = 'plain') => draw(`${paint[tone](text)}\n`),
    link(state) {
      picture.link = state;
      if (state.kind === 'closed') picture.counts = undefined;
      later();
    },
    row(row) {
      const at = picture.rows.findIndex(({ name }) => name === row.name);
      picture.rows.splice(at === -1 ? picture.rows.length : at, 1, row);
      later();
    },
    progress(text) {
      picture.progress = text;
      later();
    },
    counts(counts) {
      picture.counts = counts;
      later();
    },
    close: () => draw(),
  };
}

const toWidth = (line: Line): number =>
  line.reduce((sum, [text]) => sum + Array.from(text).length, 0);
