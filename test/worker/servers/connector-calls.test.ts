/** A connector's object when its machine is replaced: calls, and what is said of it. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import {
  FRAMES_VERSION,
  SUBPROTOCOL,
  toFrame,
  toJsonFrame,
} from '../../../src/upstream/connector/frames.ts';
import { connectedProgram } from '../support/connected-program.ts';
import { enrol, FakeMachine } from '../support/fake-machine.ts';
import { createPortico, PATIENT, SERVERS } from '../support/portico.ts';

const portico = createPortico();

it('[CLI-1] [UP-5] sends no late frame of an ended call to the next machine', async () => {
  const { id, token } = await enrol(portico, 'late');
  const line = env.CONNECTOR.getByName(id);
  const held: unknown[] = [];
  // Without a machine, the call is ended at once; its other end stays open.
  await runInDurableObject(line, object => {
    held.push(object.fetch(new Request('https://object/call')));
  });
  const next = new FakeMachine({});
  await next.dial(portico, token);
  const late = await runInDurableObject(line, async (object, state) => {
    const calls = state.getWebSockets('call');
    for (const call of calls) await object.webSocketMessage(call, toFrame('end', 1).slice().buffer);
    return calls.length;
  });
  next.send(toJsonFrame('hello', 0, { version: FRAMES_VERSION, agent: 'fake/1', servers: [] }));
  await vi.waitFor(() => expect(next.of('welcome')).toHaveLength(2), PATIENT);
  expect([held.length, late, next.of('end')]).toEqual([1, 1, []]);
});

it('[CLI-1] [REG-4] is offline after the machine that replaced its own left without a word', async () => {
  const { connectorId, token, machine, id } = await connectedProgram(portico, 'silent');
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-protocol': SUBPROTOCOL,
    authorization: `Bearer ${token}`,
  };
  const { webSocket: other } = await portico.fetch('/connect', { headers });
  other?.accept();
  await vi.waitFor(
    () => expect([machine.bye, machine.closeCode]).toEqual(['replaced', 4409]),
    PATIENT,
  );
  other?.close(1001);
  await vi.waitFor(async () => {
    const response = await portico.api('GET', `/api/v1/connectors/${connectorId}`);
    expect(await response.json()).toMatchObject({ status: 'DISCONNECTED' });
  }, PATIENT);
  expect((await portico.api('DELETE', `${SERVERS}/${id}`)).status).toBe(204);
});
