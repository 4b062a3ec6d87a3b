/** The log of requests as the command line reads and shows it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { formatLine } from '../../../cli/src/logs/format-line.ts';
import {
  findEnd,
  follow,
  parseLines,
  readLast,
  type LogLine,
} from '../../../cli/src/logs/read-log.ts';
import { openRequestLog } from '../../../local/request-log.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-requests-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const plain = { dim: String, warn: String, bad: String };
const lineOf = (n: number, more: object = {}) =>
  JSON.stringify({
    time: '2026-11-25T23:06:38.139Z',
    level: 'info',
    method: `m${n}`,
    outcome: 'ok',
    duration_ms: 1,
    ...more,
  });
const all = () => true;

it('[OPS-7] a line shows the request, its outcome and its duration', () => {
  const more = {
    method: 'tools/call',
    server: 'github',
    tool: 'search',
    outcome: 'denied',
    code: 'rate_limited',
    duration_ms: 12.4,
    upstream_ms: 9,
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  };
  const [line] = parseLines(lineOf(1, more));
  expect(line && formatLine(line, plain)).toBe(
    '23:06:38.139  tools/call  github.search  denied rate_limited  12 ms (9 ms at its server)  4bf92f3577b3',
  );
});

it('[OPS-7] tool names of a server cannot control the terminal', () => {
  const [line] = parseLines(lineOf(1, { server: 's', tool: 'a\u001B[31mb\u202Ec' }));
  expect(line && formatLine(line, plain)).toContain('s.a\uFFFD[31mb\uFFFDc');
});

it('[OPS-7] the last lines come from both files; malformed lines are left out', async () => {
  const path = join(folder, 'requests.ndjson');
  await writeFile(`${path}.1`, `${lineOf(1)}\n${lineOf(2)}\n`);
  await writeFile(path, `${lineOf(3)}\n{"half\n`);
  const last = await readLast(path, await findEnd(path), 2, all);
  expect(last.map(({ method }) => method)).toEqual(['m2', 'm3']);
  const none = join(folder, 'none');
  expect(await readLast(none, await findEnd(none), 5, all)).toEqual([]);
});

it('[OPS-7] following shows every line, also across file rotation', async () => {
  const path = join(folder, 'requests.ndjson');
  const log = openRequestLog(path, 4_000);
  log.write(lineOf(0));
  log.flush();
  const end = new AbortController();
  const coming = follow(path, await findEnd(path), end.signal);
  const seen: string[] = [];
  const takeUntil = async (count: number) => {
    while (seen.length < count) {
      const { value = [] } = await coming.next();
      seen.push(...(value as LogLine[]).map(({ method = '' }) => method));
    }
  };
  for (let n = 1; n <= 100; n += 1) {
    log.write(lineOf(n));
    log.flush();
    // Each file is read before the next one takes its name.
    if (n % 20 === 0) await takeUntil(n);
  }
  expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => `m${n + 1}`));
});
