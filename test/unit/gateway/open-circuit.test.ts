/** Calls to a server with an open circuit are refused before they are sent, with the error that opened it. */
import { expect, it } from 'vitest';
import { refuseOpenCircuit } from '../../../src/gateway/steps/server-health.ts';
import type { Send } from '../../../src/gateway/steps/send.ts';
import { createRecord } from './fakes.ts';

const answered = { response: { kind: 'response', result: '{}', parsed: {} } } as const;
const callTo = (more: Parameters<typeof createRecord>[1]) => {
  const called: string[] = [];
  const inner: Send = async ({ name }) => {
    called.push(name);
    return answered;
  };
  const context = { waitUntil: () => undefined } as unknown as Parameters<Send>[3];
  const request = {} as Parameters<Send>[1];
  const call = refuseOpenCircuit({ refuse: () => {} })(inner)(
    createRecord('alpha', more),
    request,
    'a',
    context,
  );
  return { called, call };
};

it("[UP-5] [CLI-3] reports the server's failure as in the registry", async () => {
  const lastError = 'upstream_unreachable: Its connector says: The server exited with code 7';
  const { called, call } = callTo({ circuitRetryAt: 1, lastError });
  await expect(call).rejects.toMatchObject({
    code: 'circuit_open',
    message: `The server failed too often and is tried again later. It failed with ${lastError}`,
    extras: { retryAfterSeconds: 1 },
  });
  expect(called).toEqual([]);
});

it('[UP-5] reports nothing more if no failure is known', async () => {
  await expect(callTo({ circuitRetryAt: 1 }).call).rejects.toMatchObject({
    message: 'The server failed too often and is tried again later',
  });
});

it('[UP-5] lets calls to other servers pass', async () => {
  const { called, call } = callTo({ lastError: 'upstream_timeout: of before' });
  expect(await call).toBe(answered);
  expect(called).toEqual(['alpha']);
});
