/** Equal calls at once: one of them is sent, whichever clients leave meanwhile. */
import { describe, expect, it, vi } from 'vitest';
import { createPerson, rowsOf } from '../support/call-rows.ts';
import { callCached, connectCached, createGate } from '../support/cached-servers.ts';
import { resultOf, streamOf } from '../support/fake-server.ts';
import { progress } from '../support/live-calls.ts';
import { createPortico, PATIENT } from '../support/portico.ts';

const portico = createPortico();

describe('equal calls at once', () => {
  it('[LLM-5] are one call at the server, over isolates', async () => {
    const { name, server, answer, count, allow } = await connectCached(portico);
    await allow();
    const gate = createGate();
    server.call = async post => {
      await gate.opened;
      return answer(post);
    };
    const isolates = Array.from({ length: 4 }, () => createPortico());
    const calls = Array.from({ length: 100 }, (_, at) =>
      callCached(isolates[at % 4] ?? portico, name),
    );
    await vi.waitFor(() => expect(count()).toBe(1), PATIENT);
    gate.open();
    const serials = (await Promise.all(calls)).map(({ serial }) => serial);
    expect(new Set(serials)).toEqual(new Set([`${name}#1`]));
    expect(count()).toBe(1);
  });

  it('[LLM-5] whose result cannot be shared are each made', async () => {
    const { name, server, count, allow } = await connectCached(portico);
    await allow();
    const gate = createGate();
    server.call = async post => {
      await gate.opened;
      return resultOf(post, { content: [{ type: 'text', text: 'no' }], isError: true });
    };
    const calls = Array.from({ length: 10 }, () => callCached(portico, name));
    await vi.waitFor(() => expect(count()).toBe(1), PATIENT);
    gate.open();
    for (const { answer } of await Promise.all(calls)) expect(answer.result?.isError).toBe(true);
    expect(count()).toBeGreaterThan(1);
  });

  it('[LLM-5] [MCP-4] report progress to the leading call only', async () => {
    const { name, server, count, allow } = await connectCached(portico);
    await allow();
    server.call = post =>
      streamOf(progress(1), progress(2), {
        jsonrpc: '2.0',
        id: post.id,
        result: { resultType: 'complete', content: [{ type: 'text', text: 'streamed' }] },
      });
    const led = await callCached(portico, name);
    expect(led).toMatchObject({ serial: 'streamed', note: { hit: false } });
    expect(await callCached(portico, name)).toMatchObject({
      serial: 'streamed',
      note: { hit: true },
    });
    expect(count()).toBe(1);
  });

  it('[LLM-5] continue without a waiting call that leaves', async () => {
    const { name, server, answer, count, allow } = await connectCached(portico);
    await allow();
    const gate = createGate();
    server.call = async post => {
      await gate.opened;
      return answer(post);
    };
    const leading = callCached(portico, name);
    await vi.waitFor(() => expect(count()).toBe(1), PATIENT);
    const going = new AbortController();
    const gone = callCached(portico, name, { signal: going.signal }).catch(() => undefined);
    const waiting = callCached(portico, name);
    going.abort();
    gate.open();
    expect((await leading).serial).toBe(`${name}#1`);
    expect((await waiting).serial).toBe(`${name}#1`);
    await gone;
  });

  it('[LLM-5] are led by the next when the first leaves, whose call is cancelled', async () => {
    const { name, server, answer, count, allow } = await connectCached(portico);
    await allow();
    const someone = await createPerson(portico);
    const first = createGate();
    let cancelled = 0;
    server.call = async post => {
      if (count() > 1) return answer(post);
      post.signal.addEventListener('abort', () => {
        cancelled += 1;
      });
      await first.opened;
      return answer(post);
    };
    const going = new AbortController();
    const { token } = someone;
    const led = callCached(portico, name, { token, signal: going.signal }).catch(() => undefined);
    await vi.waitFor(() => expect(count()).toBe(1), PATIENT);
    const waiting = Array.from({ length: 5 }, () => callCached(portico, name, { token }));
    going.abort();
    const serials = (await Promise.all(waiting)).map(({ serial }) => serial);
    expect(new Set(serials).size).toBe(1);
    expect(count()).toBe(2);
    first.open();
    await led;
    expect(cancelled).toBeLessThanOrEqual(1);
    const outcomes = (await rowsOf(portico, someone)).map(({ outcome }) => outcome);
    expect(outcomes.toSorted()).toEqual(['cancelled', 'done', 'done', 'done', 'done', 'done']);
  });
});
