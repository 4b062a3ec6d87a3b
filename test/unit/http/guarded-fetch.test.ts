/** A fetch for addresses that others name: what it requests, that it follows no redirect, and how much it reads. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createGuardedFetch } from '../../../src/http/guarded-fetch.ts';

const ADDRESS = 'https://login.example.com/token';
const JSON_TYPE = { 'content-type': 'application/json' };
const signal = new AbortController().signal;

/** Answers every request; returns the requests. */
function answerWith(make: () => Response | Promise<Response>) {
  const asked: { address: string; init: RequestInit }[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init = {}) => {
    asked.push({ address: String(input), init });
    return Promise.resolve(make());
  });
  return asked;
}
/** A body that shows whether it was cancelled. */
function bodyOf(...chunks: string[]) {
  const seen = { isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = chunks.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(new TextEncoder().encode(next));
    },
    cancel() {
      seen.isCancelled = true;
    },
  });
  return { seen, body };
}
const refusal = (message: string) => ({ code: 'credential_unavailable', message });

afterEach(() => vi.restoreAllMocks());

describe('a guarded fetch', () => {
  it('[SEC-3] requests allowed addresses, follows nothing and ends with its signal', async () => {
    const asked = answerWith(() => Response.json({ a: 1 }));
    const guarded = createGuardedFetch(false, signal);
    const init = { method: 'POST', headers: { a: 'b' }, redirect: 'follow' } as const;
    expect(await (await guarded(ADDRESS, init)).json()).toEqual({ a: 1 });
    await guarded(new URL(ADDRESS));
    await guarded(new Request(ADDRESS));
    const own = { redirect: 'manual', signal };
    expect(asked).toEqual([
      { address: ADDRESS, init: { ...init, ...own } },
      { address: ADDRESS, init: own },
      { address: ADDRESS, init: own },
    ]);
  });

  it.each([
    'http://login.example.com/',
    'https://10.0.0.1/',
    'https://localhost/',
    'file:///etc',
    '',
  ])('[SEC-3] sends nothing to %j', async address => {
    const asked = answerWith(() => Response.json({}));
    const run = createGuardedFetch(false, signal)(address);
    await expect(run).rejects.toMatchObject(
      refusal('The address of the authorization server is not allowed'),
    );
    expect(asked).toEqual([]);
  });

  it('[SEC-3] may reach this machine in local mode', async () => {
    const asked = answerWith(() => Response.json({}));
    await createGuardedFetch(true, signal)('http://127.0.0.1:9/token');
    expect(asked).toHaveLength(1);
    const run = createGuardedFetch(false, signal)('http://127.0.0.1:9/token');
    await expect(run).rejects.toMatchObject({ code: 'credential_unavailable' });
  });

  it.each([300, 301, 302, 307, 308, 399])(
    '[SEC-3] does not follow a %i and cancels its body',
    async status => {
      const { seen, body } = bodyOf('{}');
      const headers = { ...JSON_TYPE, location: 'https://10.0.0.1/' };
      const asked = answerWith(() => new Response(body, { status, headers }));
      await expect(createGuardedFetch(false, signal)(ADDRESS)).rejects.toMatchObject(
        refusal('The authorization server redirects, which is never followed'),
      );
      expect([asked.length, seen.isCancelled]).toEqual([1, true]);
    },
  );

  it.each([200, 299, 400, 401, 500])('[UP-4] returns the JSON of a %i', async status => {
    answerWith(() => Response.json({ status }, { status, headers: { 'x-own': '1' } }));
    const response = await createGuardedFetch(false, signal)(ADDRESS);
    expect([response.status, response.headers.get('x-own')]).toEqual([status, '1']);
    expect(await response.json()).toEqual({ status });
  });

  it.each([204, 205])('[UP-4] returns no body for a %i, which cannot have one', async status => {
    answerWith(() => new Response(null, { status, headers: JSON_TYPE }));
    const response = await createGuardedFetch(false, signal)(ADDRESS);
    expect([response.status, response.body]).toEqual([status, null]);
  });

  it('[UP-4] reads JSON whatever the case of its media type', async () => {
    const headers = { 'content-type': 'Application/JSON;Charset=UTF-8' };
    answerWith(() => new Response('{"a":1}', { headers }));
    expect(await (await createGuardedFetch(false, signal)(ADDRESS)).json()).toEqual({ a: 1 });
  });

  it('[SEC-2] reads no body that is not JSON', async () => {
    for (const headers of [{ 'content-type': 'text/html' }, new Headers()]) {
      const { seen, body } = bodyOf('secret');
      answerWith(() => new Response(body, { status: 502, headers }));
      const response = await createGuardedFetch(false, signal)(ADDRESS);
      expect([response.status, response.body, seen.isCancelled]).toEqual([502, null, true]);
    }
  });

  it('[UP-4] removes headers that no longer describe the body', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-length': '999', 'x-own': '1' };
    for (const type of ['application/json', 'text/plain']) {
      answerWith(() => new Response('{}', { headers: { ...headers, 'content-type': type } }));
      const response = await createGuardedFetch(false, signal)(ADDRESS);
      expect(Object.keys(headers).map(name => response.headers.get(name))).toEqual([
        null,
        null,
        '1',
      ]);
    }
  });

  it('[SEC-9] reads 65,536 bytes and no more, in chunks of any size', async () => {
    const parts = (last: number) => ['"', 'x'.repeat(40_000), 'x'.repeat(last), '"'];
    const text = async (last: number) => {
      answerWith(() => new Response(bodyOf(...parts(last)).body, { headers: JSON_TYPE }));
      return (await createGuardedFetch(false, signal)(ADDRESS)).text();
    };
    expect(await text(25_534)).toHaveLength(65_536);
    await expect(text(25_535)).rejects.toMatchObject(
      refusal('The answer of the authorization server is larger than allowed'),
    );
  });

  it('[SEC-2] reports what went wrong, without details of the other side', async () => {
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('10.0.0.1 refused'));
    await expect(createGuardedFetch(false, signal)(ADDRESS)).rejects.toMatchObject(
      refusal('The authorization server cannot be reached'),
    );
    await expect(createGuardedFetch(false, AbortSignal.abort())(ADDRESS)).rejects.toMatchObject(
      refusal('The authorization server did not answer in time'),
    );
    const broken = new ReadableStream({
      pull: controller => controller.error(new Error('10.0.0.1 reset')),
    });
    answerWith(() => new Response(broken, { headers: JSON_TYPE }));
    await expect(createGuardedFetch(false, signal)(ADDRESS)).rejects.toMatchObject(
      refusal('The answer of the authorization server was cut off'),
    );
  });
});
