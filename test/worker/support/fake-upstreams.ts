/**
 * Upstreams without a process: a handler in the same isolate answers requests of the Worker and its Durable Objects to a faked origin.
 * Everything else goes to `test/fixtures/outbound.ts`. Undone after each test (restoreMocks).
 */
import { vi } from 'vitest';

/** Answers one request as an upstream would; throws to be unreachable. */
export type FakeUpstream = (request: Request) => Response | Promise<Response>;

/**
 * Replaces the global `fetch` for the given origins (`https://a.example.com`) until the test ends; an aborted request fails as on the
 * network. Returns the list of requests so far, in order, as "METHOD url".
 */
export function fakeUpstreams(upstreams: Readonly<Record<string, FakeUpstream>>): string[] {
  const seen: string[] = [];
  const realFetch = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const answer = upstreams[new URL(request.url).origin];
    if (answer === undefined) return realFetch(request);
    seen.push(`${request.method} ${request.url}`);
    const aborted = new Promise<never>((_resolve, reject) => {
      const fail = () => reject(new DOMException('The operation was aborted', 'AbortError'));
      request.signal.addEventListener('abort', fail, { once: true });
    });
    const answering = Promise.resolve(answer(request));
    // A response after an abort is cancelled, like a closed connection.
    const onLate = (response: Response) => {
      if (request.signal.aborted && response.body?.locked === false) void response.body.cancel();
    };
    answering.then(onLate, () => undefined);
    return Promise.race([answering, aborted]);
  });
  return seen;
}
