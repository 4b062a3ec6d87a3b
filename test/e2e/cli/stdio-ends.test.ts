/** How `portico stdio` ends, and what it refuses by itself. */
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { startStdio } from '../support/portico-command.ts';
import { resultText, sendText, startEvents } from '../support/scripted-gateway.ts';
import {
  countOf,
  initialize,
  modern,
  opening,
  request,
  SOON_MS,
  start,
  TOKEN,
} from '../support/scripted-stdio.ts';

it('[CLI-2] waits for running calls when the host closes its input', async () => {
  const waiting: (() => void)[] = [];
  const { gateway, host } = await start((came, response) => {
    if (came.message.method === 'subscriptions/listen') return void startEvents(response);
    waiting.push(() => sendText(response, resultText(came)));
  });
  host.send(modern(1, 'tools/list'), modern(2, 'subscriptions/listen'));
  await until('both have arrived', SOON_MS, async () =>
    gateway.came.length === 2 ? true : undefined,
  );
  const ended = host.end();
  // It does not wait for a subscription, which never ends by itself; its end shows that the end of the input was seen.
  await until('the subscription is gone', SOON_MS, async () =>
    gateway.came.find(({ message }) => message.id === 2)?.isGone ? true : undefined,
  );
  waiting[0]?.();
  expect(await ended).toBe(0);
  expect(host.lines).toEqual(['{"jsonrpc":"2.0","id":1,"result":{}}']);
  expect(gateway.came).toHaveLength(2);
});

it('[CLI-2] ends anyway when that takes too long, or on a signal', async () => {
  const { gateway, host } = await start((came, response) => {
    if (came.message.method === 'initialize') return opening(came, response, 'one');
    if (came.method === 'DELETE') return void response.writeHead(200).end();
  });
  host.send(initialize);
  await host.answer(0);
  host.send(request(1, 'tools/call'));
  await until('it has arrived', SOON_MS, async () =>
    countOf(gateway, 'tools/call') === 1 ? true : undefined,
  );
  const other = startStdio(gateway.origin, TOKEN);
  other.send(modern(2, 'tools/call'));
  await until('it has arrived', SOON_MS, async () =>
    countOf(gateway, 'tools/call') === 2 ? true : undefined,
  );
  const exit = once(other.child, 'close');
  other.child.kill('SIGTERM');
  expect(await exit).toEqual([0, null]);
  expect(await host.end()).toBe(0);
  await until('the session is ended', SOON_MS, async () =>
    gateway.came.at(-1)?.method === 'DELETE' ? true : undefined,
  );
  expect([host.lines.length, other.lines.length]).toEqual([1, 0]);
});

it('[CLI-2] refuses a line of more than 16 MiB, one that is no message, and an id in use', async () => {
  const { host } = await start((came, response) => {
    if (came.message.method === 'wait') return void startEvents(response);
    sendText(response, resultText(came));
  });
  const long = 'x'.repeat(16_777_216);
  host.send(`{"method":"tools/call","params":{"a":"${long}"},"jsonrpc":"2.0","id":5}`);
  expect((await host.answer(5)).error?.message).toContain('16 MiB');
  host.send('{"jsonrpc":', '[1', '{"jsonrpc":"2.0","id":6}', modern(7, 'wait'), modern(7, 'other'));
  expect((await host.answer(6)).error?.code).toBe(-32600);
  expect((await host.answer(7)).error?.message).toContain('still running');
  host.send('', modern(8, 'ping'));
  await host.answer(8);
  const codes = host.lines.map(
    line => (JSON.parse(line) as { error?: { code: number } }).error?.code,
  );
  expect(codes).toEqual([-32600, -32700, -32700, -32600, -32600, undefined]);
});
