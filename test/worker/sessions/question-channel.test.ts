/** The channel on which a call waits for its client's answers, when the client's object goes away. */
import { expect, it, vi } from 'vitest';
import { openChannel } from '../../../src/sessions/question-channel.ts';
import { PATIENT } from '../support/portico.ts';

it('[MCP-12] [EDGE-1] is closed then, and what was asked on it is answered with an error', async () => {
  const { 0: worker, 1: object } = new WebSocketPair();
  object.accept();
  const opened = new Response(null, { status: 101, webSocket: worker });
  const channel = await openChannel({ fetch: async () => opened }, 60_000);
  expect(channel.isOpen).toBe(true);
  const { answer } = channel.ask('elicitation/create', '{}');
  object.close(1012, 'restart');
  expect(await answer).toMatchObject({ error: expect.stringContaining('went away') });
  await vi.waitFor(() => expect(channel.isOpen).toBe(false), PATIENT);
  channel.close();
});
