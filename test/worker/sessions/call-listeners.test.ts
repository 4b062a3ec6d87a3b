/** The Worker's side of a call listener: a socket that opens when the call lasts, retried if the object cannot be reached. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openListener } from '../../../src/sessions/call-listeners.ts';
import type { SocketPort } from '../../../src/sessions/question-channel.ts';
import { PATIENT } from '../support/portico.ts';

const ADDRESS = { serverId: 's', name: 's', url: '', headers: {}, hidden: [], credentialKey: 'k' };
const OPENING = {
  address: ADDRESS,
  session: { sessionId: 'u', protocolVersion: '2025-11-25', credentialKey: 'k' },
  capabilities: {},
  progressToken: undefined,
};
/** A call that lasts this long gets its socket. */
const AFTER_MS = 100;

/** An object that fails this many times, then opens the socket and notes what was sent on it. */
function makeObject(failures: number) {
  const heard: string[] = [];
  const fetch = vi.fn<SocketPort['fetch']>(async () => {
    if (fetch.mock.calls.length <= failures) throw new TypeError('the object starts anew');
    const { 0: worker, 1: object } = new WebSocketPair();
    object.accept();
    object.addEventListener('message', ({ data }) => void heard.push(String(data)));
    object.addEventListener('close', () => void heard.push('closed'));
    return new Response(null, { status: 101, webSocket: worker });
  });
  return {
    heard,
    fetch,
    open: () =>
      openListener(
        () => ({ fetch }),
        () => OPENING,
        AFTER_MS,
      ),
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('[UP-2] the listener of a call', () => {
  it('opens nothing for a short call', async () => {
    const { fetch, open } = makeObject(0);
    open().close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fetch).not.toHaveBeenCalled();
  });

  it.each([0, 1, 5])('names its stream after %i failures', async failures => {
    const { heard, fetch, open } = makeObject(failures);
    const listener = open();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(fetch).toHaveBeenCalledTimes(failures + 1);
    listener.close();
    vi.useRealTimers();
    await vi.waitFor(() => expect(heard.at(-1)).toBe('closed'), PATIENT);
    expect(heard[0]).toContain('"serverId":"s"');
  });

  it('stops trying for a call that has ended, and after a bounded number of tries', async () => {
    const over = makeObject(1_000);
    const listener = over.open();
    await vi.advanceTimersByTimeAsync(120);
    listener.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(over.fetch).toHaveBeenCalledTimes(1);

    const lasting = makeObject(1_000);
    lasting.open();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(lasting.fetch).toHaveBeenCalledTimes(12);
  });
});
