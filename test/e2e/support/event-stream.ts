/** The GET stream of a legacy session, read by hand. */
import { headersFor } from './raw-client.ts';
import type { Target } from './raw-client.ts';

/**
 * Reads until so many messages came, or messages with these methods. @returns their methods and the id of the last event. Throws if there
 * is no stream.
 */
export async function readEvents(
  target: Target,
  sessionId: string,
  wanted: number | readonly string[],
  lastEventId?: string,
): Promise<{ methods: string[]; id: string }> {
  const response = await fetch(target.url, {
    headers: headersFor(target, {
      accept: 'text/event-stream',
      'content-type': null,
      'mcp-session-id': sessionId,
      'last-event-id': lastEventId ?? null,
    }),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const methods = () => [...text.matchAll(/"method":"([^"]+)"/gu)].map(match => match[1] ?? '');
  const ids = () => [...text.matchAll(/^id: (.+)$/gmu)].map(match => match[1] ?? '');
  const isEnough = () =>
    typeof wanted === 'number'
      ? methods().length >= wanted
      : wanted.every(method => methods().includes(method));
  while (ids().length === 0 || !isEnough()) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) break;
    text += value;
  }
  await reader?.cancel();
  return { methods: methods(), id: ids().at(-1) ?? '' };
}
