/** The tracer: the contents of a trace, its bounds, what is kept out of it, and that a failing exporter is not noticed. */
import { expect, it } from 'vitest';
import {
  createTracer,
  MAX_ATTRIBUTES,
  MAX_SPANS,
  MAX_TRACE_CHARS,
} from '../../../src/tracing/create-tracer.ts';
import { NO_TRACES } from '../../../src/tracing/tracer.ts';
import { parseTraceparent } from '../../../src/tracing/traceparent.ts';
import { createStand, makeTrace, START } from './traces.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

it('[LLM-6] a trace is a tree of spans with times, decisions and attributes', async () => {
  const { traceId, spans, droppedSpans, endedAt } = await makeTrace();
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect({ droppedSpans, endedAt }).toEqual({ droppedSpans: 0, endedAt: START + 1_300 });
  const [root, plan, call, summary] = spans;
  expect(root).toMatchObject({
    name: 'ask',
    parentSpanId: undefined,
    startedAt: START,
    endedAt: START + 1_300,
    decision: 'answered',
    attributes: { model: 'm', steps: 2, share: 0.5, dry: false },
  });
  expect(plan).toMatchObject({ parentSpanId: root?.spanId, endedAt: START + 1_240 });
  expect(call).toMatchObject({ decision: 'allowed', error: 'upstream_unavailable' });
  expect(summary).toMatchObject({ name: 'summary', endedAt: undefined, decision: undefined });
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(4);
});

it('[LLM-6] it is exported once, and nothing is added after that', async () => {
  const stand = createStand();
  const root = stand.start('ask');
  const child = root.child('plan');
  root.end({ decision: 'first' });
  root.end({ decision: 'second' });
  root.set({ late: true });
  child.end({ decision: 'late' });
  root.child('late').end();
  const traces = await stand.ended();
  expect(traces).toHaveLength(1);
  expect(traces[0]?.spans.map(({ name }) => name)).toEqual(['ask', 'plan']);
  expect(traces[0]?.spans[0]).toMatchObject({ decision: 'first', attributes: {} });
  expect(traces[0]?.spans[1]).toMatchObject({ decision: undefined });
});

it("[LLM-6] a trace continues its caller's, if that is valid", async () => {
  const stand = createStand();
  const own = stand.start('ask', {}, `00-${TRACE}-${SPAN}-01`);
  expect(own.traceId).toBe(TRACE);
  own.end();
  expect((await stand.ended())[0]?.spans[0]?.parentSpanId).toBe(SPAN);
});

it.each([
  [`00-${TRACE}-${SPAN}-00`, true],
  [`cc-${TRACE}-${SPAN}-01`, true],
  [`cc-${TRACE}-${SPAN}-01-what-comes-later`, true],
  [`cc-${TRACE}-${SPAN}-01${'x'}`, false],
  [`00-${TRACE}-${SPAN}-01-more`, false],
  [`ff-${TRACE}-${SPAN}-01`, false],
  [`00-${'0'.repeat(32)}-${SPAN}-01`, false],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, false],
  [`00-${TRACE.toUpperCase()}-${SPAN}-01`, false],
  [`00-${TRACE}-${SPAN}`, false],
  [`cc-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`, false],
  ['', false],
  [undefined, false],
])('[LLM-6] traceparent %s is accepted: %s', (text, isTaken) => {
  expect(parseTraceparent(text)).toEqual(
    isTaken
      ? { isSampled: !text?.includes('-00f067aa0ba902b7-00'), traceId: TRACE, spanId: SPAN }
      : undefined,
  );
});

it('[LLM-6] spans, attributes and characters are bounded, and what is dropped is counted', async () => {
  const stand = createStand();
  const root = stand.start('chat');
  const many = Object.fromEntries(
    Array.from({ length: MAX_ATTRIBUTES + 5 }, (_, at) => [`a${at}`, at]),
  );
  root.set(many);
  root.set({ a0: 'again' });
  for (let at = 0; at < MAX_SPANS + 9; at += 1) {
    root.child('step', { text: 'x '.repeat(5_000), name: 'kept' }).end();
  }
  root.end();
  const [trace] = await stand.ended();
  expect(trace?.spans).toHaveLength(MAX_SPANS);
  expect(trace?.droppedSpans).toBe(10);
  expect(Object.keys(trace?.spans[0]?.attributes ?? {})).toHaveLength(MAX_ATTRIBUTES);
  expect(trace?.spans[0]).toMatchObject({ droppedAttributes: 5, attributes: { a0: 'again' } });
  const chars = JSON.stringify(trace?.spans.map(({ attributes }) => attributes)).length;
  expect(chars).toBeLessThan(MAX_TRACE_CHARS * 1.5);
  expect(trace?.spans.at(-1)?.droppedAttributes).toBeGreaterThan(0);
});

it('[LLM-6] secrets are removed by name and by form, also in JSON', async () => {
  const token = `portico_${'A'.repeat(43)}`;
  const stand = createStand();
  const root = stand.start(`ask ${token}`, {
    api_key: 'hunter2',
    note: `send Bearer abcdef123456 and ${token}`,
    arguments: JSON.stringify({ user: 'ann', password: 'hunter3', deep: [{ secret: 77_123 }] }),
    broken: '{"password": "hunter4',
    pin: 4_711,
    input_tokens: 12,
    [token]: 1,
  });
  root.end({ decision: `refused:${token}`, error: `sk-${'b'.repeat(20)}` });
  const [trace] = await stand.ended();
  const text = JSON.stringify(trace);
  for (const secret of ['hunter', 'abcdef123456', 'AAAA', '77123', '4711', 'bbbb']) {
    expect(text).not.toContain(secret);
  }
  expect(trace?.spans[0]?.attributes).toMatchObject({ input_tokens: 12 });
  expect(trace?.spans[0]?.attributes['arguments']).toContain('"user":"ann"');
});

it('[LLM-6] a failing exporter fails nothing else, and a bounded number of traces waits for a hanging one', async () => {
  const deferred: Promise<unknown>[] = [];
  const failing = createTracer(
    () => Promise.reject(new Error('no')),
    () => START,
  );
  failing.start('ask', {}, work => void deferred.push(work)).end();
  await expect(Promise.all(deferred)).resolves.toBeDefined();

  let sent = 0;
  const hanging = createTracer(
    () => {
      sent += 1;
      return new Promise(() => {});
    },
    () => START,
  );
  for (let at = 0; at < 100; at += 1) hanging.start('ask', {}, () => {}).end();
  expect(sent).toBe(32);
});

it('[LLM-6] without an exporter there are ids and nothing else', () => {
  expect(createTracer(undefined, () => START)).toBe(NO_TRACES);
  const span = NO_TRACES.start('ask', {}, () => {
    throw new Error('nothing is handed on');
  });
  span.child('plan').end();
  span.end();
  expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
});
