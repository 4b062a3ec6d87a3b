/** Which requests are answered with a stream of events. */
import { expect, it } from 'vitest';
import { wantsEvents } from '../../../src/api/event-stream.ts';

it.each([
  ['text/event-stream', true],
  ['Text/Event-Stream, */*;q=0.1', true],
  ['application/json, text/event-stream', false],
  ['', false],
  [undefined, false],
])('[LLM-3] Accept: %s', (accept, wants) => {
  expect(wantsEvents(accept)).toBe(wants);
});
