/** `portico trace` without a gateway: the tree for any spans, and which trace an id names. */
import { expect, it } from 'vitest';
import { formatTree, toDuration } from '../../../cli/src/trace/format-tree.ts';
import { findTrace, type SpanLine } from '../../../cli/src/trace/read-traces.ts';
import { toNdjson } from '../../../src/tracing/to-ndjson.ts';
import { makeTrace } from '../tracing/traces.ts';

const paint = {
  title: (text: string) => text,
  good: (text: string) => `+${text}`,
  bad: (text: string) => `!${text}`,
  dim: (text: string) => text,
};
const linesOf = (text: string) => text.trimEnd().split('\n');
const span = (id: string, parent?: string, more: Partial<SpanLine> = {}): SpanLine => ({
  trace_id: 't',
  span_id: id,
  ...(parent === undefined ? {} : { parent_span_id: parent }),
  name: id,
  start: '2026-11-22T10:15:00.000Z',
  duration_ms: 1,
  ...more,
});

it('[LLM-6] a trace of the gateway is shown as a tree, with durations and decisions', async () => {
  const trace = await makeTrace();
  const spans = linesOf(toNdjson(trace)).map(line => JSON.parse(line) as SpanLine);
  expect(linesOf(formatTree(spans, { paint }))).toEqual([
    `${trace.traceId}  2026-11-22T10:15:00.000Z  4 spans`,
    'ask         1.30 s  +answered  model=m  steps=2  share=0.5  dry=false',
    '├─ plan     1.24 s  +planned  tokens=12',
    '├─ call      60 ms  !allowed  !error upstream_unavailable  tool=docs.search',
    '└─ summary    0 ms  !unfinished',
  ]);
});

it('[LLM-6] spans of any shape are each shown once', () => {
  const spans = [
    span('a', 'elsewhere'),
    span('b', 'a'),
    span('c', 'b', { decision: 'refused:unknown_tool' }),
    span('d', 'a'),
    span('self', 'self'),
    span('x', 'y'),
    span('y', 'x'),
  ];
  expect(linesOf(formatTree(spans, { paint })).slice(1)).toEqual([
    'a        1 ms',
    '├─ b     1 ms',
    '│  └─ c  1 ms  !refused:unknown_tool',
    '└─ d     1 ms',
    'self     1 ms',
    'x        1 ms',
    '└─ y     1 ms',
  ]);
  const deep = Array.from({ length: 3_000 }, (_, at) => span(`s${at}`, `s${at - 1}`));
  expect(linesOf(formatTree(deep, { paint }))).toHaveLength(3_001);
});

it("[LLM-6] outside text cannot move the cursor, and is truncated to the terminal's width", () => {
  const hostile = span('a', undefined, {
    name: 'a\u001B[2Jb\nc',
    decision: 'x\u202Ey',
    attributes: { k: 'v'.repeat(200) },
  });
  const text = formatTree([hostile], { paint, columns: 60 });
  for (const one of ['\u001B', '\u202E']) expect(text).not.toContain(one);
  expect(linesOf(text)).toHaveLength(2);
  expect(linesOf(text)[1]?.length).toBeLessThanOrEqual(61);
});

it.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [999.6, '1.00 s'],
  [59_994, '59.99 s'],
  [59_996, '1 min 0 s'],
  [119_600, '2 min 0 s'],
  [1_240, '1.24 s'],
  [185_000, '3 min 5 s'],
])('[LLM-6] %d ms is %s', (ms, text) => {
  expect(toDuration(ms)).toBe(text);
});

it('[LLM-6] an id or its prefix names one trace', () => {
  const file = (traceId: string, at: number) => ({ path: `${at}`, started: `${at}`, traceId });
  const files = [file('abcd00', 1), file('abcd11', 2), file('abcd11', 3)];
  expect(findTrace(files, 'ABCD1').map(({ path }) => path)).toEqual(['2', '3']);
  expect(() => findTrace(files, 'abcd')).toThrow('2 traces begin with abcd');
  expect(() => findTrace(files, 'ffff')).toThrow('no trace ffff');
});
