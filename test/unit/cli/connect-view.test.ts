/** What `portico connect` shows, and how it decides that it has ended. */
import { describe, expect, it } from 'vitest';
import { toFailure, toReason, type Ending } from '../../../cli/src/connect/ending.ts';
import { toLine } from '../../../cli/src/connect/one-line.ts';
import { readSeconds } from '../../../cli/src/connect/seconds.ts';
import { createLineView, createLiveView } from '../../../cli/src/connect/view.ts';
import { toLines, type Line, type Picture, type Row } from '../../../cli/src/connect/view-text.ts';

const row = (name: string, more: Partial<Row> = {}): Row => ({
  name,
  state: 'ready',
  reason: '',
  problem: undefined,
  alias: undefined,
  ...more,
});
const picture = (rows: Row[], more: Partial<Picture> = {}): Picture => ({
  origin: 'http://127.0.0.1:8787',
  link: { kind: 'connected', connector: 'laptop' },
  rows,
  counts: undefined,
  ...more,
});
const plain = (lines: Line[]) => lines.map(line => line.map(([text]) => text).join(''));

describe('[CLI-1] the status picture', () => {
  const failed = row('notes', { state: 'failed', reason: 'exited with code 1' });
  const taken = row('b', { problem: 'the name is taken' });

  it('has a line for the connection and one for each server', () => {
    expect(plain(toLines(picture([row('files'), failed, taken]), 80, 24))).toEqual([
      '● connected as laptop  http://127.0.0.1:8787',
      '  ● files  ready',
      '  ✗ notes  failed  exited with code 1',
      '  ✗ b      not registered  the name is taken',
    ]);
  });

  it('shows the name of a server in the registry if it differs', () => {
    expect(plain(toLines(picture([row('a', { alias: 'b' })]), 80, 24))[1]).toBe(
      '  ● a  ready as b',
    );
  });

  it('shows how long it waits and why', () => {
    const link = { kind: 'waiting', reason: 'the connection broke', waitMs: 1234 } as const;
    const [line] = plain(toLines(picture([], { link }), 80, 24));
    expect(line).toContain('✗ the connection broke; retrying in 1.2 s');
  });

  it('counts the traffic of the connection', () => {
    const counts = { channels: 2, framesIn: 3, bytesIn: 12, framesOut: 40, bytesOut: 9_000_000 };
    const [, line] = plain(toLines(picture([], { counts }), 80, 24));
    expect(line).toContain('2 running, 3 frames in (12 B), 40 out (8.6 MiB)');
  });

  it('fits in a narrow terminal', () => {
    const rows = [row('a'.repeat(63)), failed];
    for (let columns = 20; columns < 120; columns += 1) {
      for (const line of plain(toLines(picture(rows), columns, 24))) {
        expect(Array.from(line).length).toBeLessThanOrEqual(columns);
      }
    }
  });

  it('leaves out servers that run well if there is no room', () => {
    const rows = [...Array.from({ length: 20 }, (_, at) => row(`s${at}`)), failed];
    const lines = plain(toLines(picture(rows), 80, 6));
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)).toBe('  … and 17 more');
    expect(lines.join()).toContain('notes');
  });

  it('shows nothing that moves the cursor', () => {
    const reason = 'one\ntwo \u001B[2J\r\u202Ethree';
    const lines = plain(toLines(picture([row('a', { state: 'failed', reason })]), 80, 24));
    expect(lines[1]).toBe('  ✗ a  failed  one two [2J three');
    expect(toLine('x'.repeat(9), 5)).toBe('xxxx…');
  });
});

describe('[CLI-1] the views', () => {
  it('print a line for each change without a terminal', () => {
    let text = '';
    const view = createLineView({ write: part => (text += part) }, 'http://gateway', () => 0);
    view.link({ kind: 'dialling' });
    view.link({ kind: 'waiting', reason: 'cannot be reached', waitMs: 200 });
    view.link({ kind: 'dialling' });
    view.link({ kind: 'waiting', reason: 'cannot be reached', waitMs: 400 });
    view.link({ kind: 'connected', connector: 'laptop' });
    const failed = row('a', { state: 'failed', reason: 'exited with code 1' });
    for (const state of ['starting', 'ready', 'starting'] as const) view.row(row('a', { state }));
    for (let run = 0; run < 3; run += 1) {
      view.row(failed);
      view.row(row('a', { state: 'starting', reason: 'exited with code 1' }));
    }
    view.row(row('a'));
    expect(text.split('\n')).toEqual([
      'http://gateway: connecting',
      'http://gateway: cannot be reached; retrying in 0.2 s',
      'http://gateway: connected as laptop',
      'a: starting',
      'a: ready',
      'a: starting',
      'a: failed: exited with code 1',
      'a: ready',
      '',
    ]);
  });

  it('redraw all lines of the last picture, also when the terminal became narrower', () => {
    const screen = {
      columns: 80,
      rows: 24,
      text: '',
      write: (part: string) => (screen.text = part),
    };
    const view = createLiveView(screen, 'http://gateway', false);
    view.row(row('a', { state: 'failed', reason: 'x'.repeat(200) }));
    view.close();
    expect(screen.text).toBe(`◌ connecting  http://gateway\n  ✗ a  failed  ${'x'.repeat(63)}…\n`);
    screen.columns = 40;
    view.note('a note');
    expect(screen.text.startsWith('\u001B[3A\r\u001B[Ja note\n◌ connecting')).toBe(true);
  });
});

it('[CLI-1] the traffic of a closed connection is not shown', () => {
  let text = '';
  const view = createLiveView({ write: part => (text = part) }, 'http://gateway', false);
  view.counts({ channels: 1, framesIn: 1, bytesIn: 1, framesOut: 1, bytesOut: 1 });
  view.note('connected');
  expect(text).toContain('1 running');
  view.link({ kind: 'closed' });
  view.close();
  expect(text).not.toContain('running');
});

describe('[CLI-1] an ending', () => {
  const end = (more: Partial<Ending>): Ending => ({
    code: 1006,
    bye: undefined,
    livedMs: 1,
    ...more,
  });

  it.each([
    [end({ code: 4401 }), 3, '--enroll'],
    [end({ bye: 'revoked' }), 3, '--enroll'],
    [end({ code: 4409 }), 1, 'took over'],
    [end({ bye: 'replaced' }), 1, 'took over'],
    [end({ bye: 'version' }), 1, 'update'],
    [end({ bye: 'protocol' }), 1, 'protocol'],
  ])('is final: %j', (ending, exitCode, text) => {
    expect(toFailure(ending)).toMatchObject({ exitCode });
    expect(toFailure(ending)?.message).toContain(text);
  });

  it.each([
    [end({}), 'the connection broke'],
    [end({ code: 1011 }), 'the connection was closed (1011)'],
    [end({ code: 1001 }), 'the gateway is restarting'],
    [end({ code: 1012 }), 'the gateway is restarting'],
    [end({ code: 1000, bye: 'draining' }), 'the gateway is restarting'],
    [end({ livedMs: 0 }), 'the gateway did not accept the connection'],
    [end({ because: 'it was silent' }), 'it was silent'],
  ])('is temporary: %j', (ending, reason) => {
    expect(toFailure(ending)).toBeUndefined();
    expect(toReason(ending)).toBe(reason);
  });
});

it.each(['', 'x', '-1', '11', 'NaN', '1e9'])('[CLI-1] %j is no number of seconds', text => {
  expect(() => readSeconds(0, 10)(text)).toThrow('from 0 to 10');
  expect(readSeconds(0, 10)('2.5')).toBe(2.5);
});
