/** Bytes that many responses share: every byte is delivered, nothing is copied or kept, and a client that never reads is given up. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { sharedBytesResponse } from '../../../src/http/shared-bytes.ts';

const encoder = new TextEncoder();
const [HEAD, END] = [encoder.encode('{"result":'), encoder.encode('}')];
const LIST = encoder.encode(`"${'x'.repeat(1_000_000)}"`);

/** A response with this list; counts what it holds. */
function respond(list = LIST, stalledMs = 60_000) {
  const held = { open: 0, stalledMs, retain };
  function retain() {
    held.open += 1;
    return () => void (held.open -= 1);
  }
  const context = createExecutionContext();
  const waitUntil = (work: Promise<unknown>) => context.waitUntil(work);
  const response = sharedBytesResponse([HEAD, list, END], {}, waitUntil, held);
  return { response, held, written: () => waitOnExecutionContext(context) };
}

describe('[SEC-9] a body of shared bytes', () => {
  it('arrives complete, with its length, and holds nothing afterwards', async () => {
    const { response, held, written } = respond();
    expect(held.open).toBe(1);
    const text = await response.text();
    expect(text).toBe(`{"result":"${'x'.repeat(1_000_000)}"}`);
    await written();
    expect(held.open).toBe(0);
  });

  it('is sent to many clients at once from the same bytes', async () => {
    const many = Array.from({ length: 20 }, () => respond());
    const texts = await Promise.all(many.map(({ response }) => response.text()));
    expect(new Set(texts.map(({ length }) => length))).toEqual(new Set([1_000_013]));
    expect(LIST.byteLength).toBe(1_000_002);
  });

  it('holds nothing if it is small', async () => {
    const { response, held } = respond(encoder.encode('{}'));
    expect(held.open).toBe(0);
    expect(await response.text()).toBe('{"result":{}}');
  });

  it('is given up when its client disconnects', async () => {
    const { response, held, written } = respond();
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await written();
    expect(held.open).toBe(0);
  });

  it('is given up when its client reads nothing for too long', async () => {
    const { response, held, written } = respond(LIST, 50);
    const reader = response.body?.getReader();
    await reader?.read();
    expect(held.open).toBe(1);
    await written();
    expect(held.open).toBe(0);
    await expect(reader?.read()).rejects.toThrow(/lost|takes nothing/);
  });
});
