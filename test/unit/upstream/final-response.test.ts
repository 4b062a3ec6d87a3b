/** The final response of a reply, after any messages, or an error without one. */
import { expect, it } from 'vitest';
import { finalResponse } from '../../../src/upstream/protocol/final-response.ts';

const response = { kind: 'response', result: '{}', parsed: {} } as const;
const note = { kind: 'notification' } as const;

async function* messages(...given: (typeof response | typeof note)[]) {
  yield* given;
}

it('[MCP-4] is found after any messages, and nothing after it is read', async () => {
  expect(await finalResponse({ response })).toBe(response);
  expect(await finalResponse({ messages: messages(note, note, response, note) })).toBe(response);
});

it('[MCP-12] is an error if the messages end without one', async () => {
  for (const reply of [{}, { messages: messages() }, { messages: messages(note) }]) {
    await expect(finalResponse(reply)).rejects.toMatchObject({ code: 'upstream_no_response' });
  }
});
