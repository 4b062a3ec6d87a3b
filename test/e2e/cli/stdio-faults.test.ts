/** `portico stdio` when something fails at the gateway or in between. Every request gets one answer. */
import { expect, it } from 'vitest';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { startStdio } from '../support/portico-command.ts';
import { resultText, sendText, startEvents, type Script } from '../support/scripted-gateway.ts';
import {
  countOf,
  initialize,
  initialized,
  modern,
  opening,
  request,
  SOON_MS,
  start,
  TOKEN,
  VERSION,
} from '../support/scripted-stdio.ts';

/** A gateway with one session after the other; each is known until `forget`. */
function sessions(script: Script) {
  let count = 0;
  let known: string | undefined;
  const all: Script = (came, response) => {
    if (came.message.method === 'initialize') {
      count += 1;
      known = `session-${count}`;
      return opening(came, response, known);
    }
    if (came.headers['mcp-session-id'] !== known) return sendText(response, '{}', {}, 404);
    if (came.method === 'GET') return void startEvents(response);
    if (came.method === 'DELETE') return void response.writeHead(200).end();
    if (came.message.id === undefined) return void response.writeHead(202).end();
    return script(came, response);
  };
  return { script: all, forget: () => (known = undefined) };
}

it('[CLI-2] reopens a forgotten session once for all calls that find it gone, and sends no call twice', async () => {
  const dispatched: unknown[] = [];
  const { script, forget } = sessions((came, response) => {
    dispatched.push(came.message.id);
    sendText(response, resultText(came));
  });
  const { gateway, host } = await start(script);
  host.send(initialize);
  await host.answer(0);
  host.send(initialized, request(1, 'tools/call', { name: 'a' }));
  await host.answer(1);
  forget();
  const ids = [2, 3, 4, 5, 6, 7];
  host.send(...ids.map(id => request(id, 'tools/call', { name: 'a' })));
  for (const id of ids) expect(await host.answer(id)).toMatchObject({ result: {} });
  expect(dispatched.toSorted()).toEqual([1, ...ids]);
  expect(countOf(gateway, 'initialize')).toBe(2);
  const news = () => gateway.came.filter(({ method }) => method === 'GET');
  await until('news of the new session are heard', SOON_MS, async () =>
    news().some(({ headers }) => headers['mcp-session-id'] === 'session-2') ? true : undefined,
  );
  expect(await host.end()).toBe(0);
  await until('the session is ended', SOON_MS, async () =>
    gateway.came.at(-1)?.method === 'DELETE' ? true : undefined,
  );
  expect(gateway.came.at(-1)).toMatchObject({
    method: 'DELETE',
    headers: { 'mcp-session-id': 'session-2', 'mcp-protocol-version': VERSION },
  });
  // The host sees only its own handshake.
  expect(host.lines).toHaveLength(2 + ids.length);
});

it('[CLI-2] gives one answer to a request whose id is past 2^53', async () => {
  const { host } = await start((came, response) => {
    const [, id = ''] = /"id":(\d+)/.exec(came.text) ?? [];
    sendText(response, `{"jsonrpc":"2.0","id":${id},"result":{}}`);
  });
  host.send(JSON.stringify(modern(1, 'a')).replace('"id":1', '"id":9007199254740993'));
  expect(await host.end()).toBe(0);
  expect(host.lines).toEqual(['{"jsonrpc":"2.0","id":9007199254740993,"result":{}}']);
});

it('[CLI-2] uses the reopened session when a refusal arrives late', async () => {
  const held: (() => void)[] = [];
  const { gateway, host } = await start((came, response) => {
    const { method, id } = came.message;
    const refuse = () => sendText(response, '{}', {}, 404);
    if (method === 'initialize') {
      return opening(came, response, `session-${countOf(gateway, 'initialize')}`);
    }
    if (came.headers['mcp-session-id'] === 'session-2') {
      return id === undefined
        ? void response.writeHead(202).end()
        : sendText(response, resultText(came));
    }
    if (id === 2) held.push(refuse);
    else refuse();
  });
  host.send(initialize);
  await host.answer(0);
  host.send(request(2, 'tools/list'));
  await until('the second waits', SOON_MS, async () => (held.length === 1 ? true : undefined));
  host.send(request(1, 'tools/list'));
  await host.answer(1);
  held[0]?.();
  await host.answer(2);
  expect(countOf(gateway, 'initialize')).toBe(2);
  expect(countOf(gateway, 'tools/list')).toBe(4);
});

it("[CLI-2] restores the host's settings in a reopened session", async () => {
  const { script, forget } = sessions((came, response) => sendText(response, resultText(came)));
  const { gateway, host } = await start(script);
  host.send(initialize);
  await host.answer(0);
  const settings = [
    request(1, 'resources/subscribe', { uri: 'a://kept' }),
    request(2, 'resources/subscribe', { uri: 'a://left' }),
    request(3, 'logging/setLevel', { level: 'error' }),
    request(4, 'resources/unsubscribe', { uri: 'a://left' }),
  ];
  for (const [at, setting] of settings.entries()) {
    host.send(setting);
    await host.answer(at + 1);
  }
  forget();
  host.send(request(5, 'ping'));
  await host.answer(5);
  const again = gateway.came.filter(
    ({ method, headers }) => method === 'POST' && headers['mcp-session-id'] === 'session-2',
  );
  expect(again.map(({ message }) => message.method)).toEqual([
    'notifications/initialized',
    'resources/subscribe',
    'logging/setLevel',
    'ping',
  ]);
  expect(again[1]?.message.params).toEqual({ uri: 'a://kept' });
  expect(host.lines).toHaveLength(6);
});

it('[CLI-2] reports a session that cannot be reopened', async () => {
  let isOpen = true;
  const { host } = await start((came, response) => {
    if (came.message.method === 'initialize' && isOpen) return opening(came, response, 'one');
    isOpen = false;
    sendText(response, '{}', {}, came.message.method === 'initialize' ? 401 : 404);
  });
  host.send(initialize);
  await host.answer(0);
  host.send(request(1, 'tools/list'));
  expect(await host.answer(1)).toMatchObject({
    error: { message: expect.stringMatching(/401.*PORTICO_TOKEN/) },
  });
});

it('[CLI-2] resumes the notification stream after the last event', async () => {
  const notification = (n: number) => `{"jsonrpc":"2.0","method":"notifications/n${n}"}`;
  const { gateway, host } = await start((came, response) => {
    if (came.message.method === 'initialize') return opening(came, response, 'one');
    if (came.method !== 'GET') return void response.writeHead(202).end();
    const n = gateway.came.filter(({ method }) => method === 'GET').length;
    // A failure in between, after which the last event is still the first one.
    if (n === 2) return void response.writeHead(503).end();
    const send = startEvents(response);
    send(notification(n), `event-${n}`);
    if (n < 4) response.end();
  });
  host.send(initialize);
  await host.answer(0);
  host.send(initialized);
  await host.message(({ method }) => method === 'notifications/n4');
  const asked = gateway.came.filter(({ method }) => method === 'GET');
  expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual([
    undefined,
    'event-1',
    'event-1',
    'event-3',
  ]);
  expect(asked.every(({ headers }) => headers['mcp-session-id'] === 'one')).toBe(true);
});

it('[CLI-2] asks a gateway without a notification stream once', async () => {
  const { gateway, host } = await start((came, response) => {
    if (came.message.method === 'initialize') return opening(came, response, 'one');
    if (came.method === 'GET') return void response.writeHead(405).end();
    if (came.message.id === undefined) return void response.writeHead(202).end();
    sendText(response, resultText(came));
  });
  host.send(initialize);
  await host.answer(0);
  host.send(initialized);
  await until('the stream was asked for', SOON_MS, async () =>
    gateway.came.some(({ method }) => method === 'GET') ? true : undefined,
  );
  host.send(request(1, 'ping'));
  await host.answer(1);
  expect(await host.end()).toBe(0);
  expect(gateway.came.filter(({ method }) => method === 'GET')).toHaveLength(1);
});

it('[CLI-2] answers with an error if there is no gateway', async () => {
  const port = await findFreePort();
  const host = startStdio(`http://127.0.0.1:${port}`, TOKEN);
  host.send(initialize, modern(1, 'server/discover'), initialized);
  for (const id of [0, 1]) {
    const { error } = await host.answer(id);
    expect(error?.message).toContain(`http://127.0.0.1:${port} cannot be reached`);
    expect(error?.message).toContain('ECONNREFUSED');
  }
  expect(await host.end()).toBe(0);
  expect(host.errors()).not.toContain(TOKEN);
});

it('[CLI-2] answers with an error if the connection breaks, and sends nothing again', async () => {
  const { gateway, host } = await start((came, response) => {
    const { id } = came.message;
    if (id === 1) return void response.destroy();
    startEvents(response)('{"jsonrpc":"2.0","method":"notifications/progress","params":{}}');
    if (id === 2) setImmediate(() => response.destroy());
    else response.end();
  });
  host.send(...[1, 2, 3].map(id => modern(id, 'tools/call', { name: 'a' })));
  expect((await host.answer(1)).error?.message).toMatch(/cannot be reached/);
  expect((await host.answer(2)).error?.message).toMatch(/broke off.*it is unknown/);
  expect((await host.answer(3)).error?.message).toMatch(/without a response/);
  expect(gateway.came).toHaveLength(3);
});

it.each([
  ['text/html', '<h1>hello</h1>', 200, /neither JSON nor an event stream/],
  ['text/html', '<h1>bad gateway</h1>', 502, /refused with 502/],
  ['application/json', '{"a"', 200, /something other than messages/],
  [
    'application/json',
    '{"jsonrpc":"2.0","id":null,"error":{"code":4010,"message":"No"}}',
    401,
    /401: No .*PORTICO_TOKEN/,
  ],
  ['application/json', '', 302, /redirects/],
])('[CLI-2] answers with an error on a %s: %s %i', async (type, text, status, message) => {
  const { host } = await start((_came, response) => {
    response.writeHead(status, { 'content-type': type, location: 'http://127.0.0.1:1/' }).end(text);
  });
  host.send(modern(1, 'tools/list'));
  const { error } = await host.answer(1);
  expect(error?.message).toMatch(message);
  expect(host.lines).toHaveLength(1);
});

it("[CLI-2] passes the gateway's messages on unchanged, each on one line", async () => {
  const raw =
    '{"jsonrpc":"2.0",\r\n  "id":1,\n"result":{"big":12345678901234567890,"e":1.50e+3,"s":"\\u00e9 \\n"}}';
  const { host } = await start((came, response) => {
    if (came.message.id === 1) return sendText(response, raw);
    const send = startEvents(response);
    send('{"jsonrpc":"2.0",\n"method":"notifications/a"}');
    send(raw.replace('"id":1', '"id":2'));
    response.end();
  });
  host.send(modern(1, 'a'));
  await host.answer(1);
  host.send(modern(2, 'b'));
  await host.answer(2);
  const line = raw.replaceAll(/[\r\n]+/g, ' ');
  expect(host.lines).toEqual([
    line,
    '{"jsonrpc":"2.0", "method":"notifications/a"}',
    line.replace('"id":1', '"id":2'),
  ]);
});

it('[CLI-2] closes the connection of a cancelled modern call, and sends no more of it', async () => {
  const { gateway, host } = await start((came, response) => {
    if (came.message.method !== 'wait') return sendText(response, resultText(came));
    startEvents(response)('{"jsonrpc":"2.0","method":"notifications/begun"}');
  });
  host.send(modern(1, 'wait'), modern(2, 'wait'));
  await until('both have begun', SOON_MS, async () => (host.lines.length === 2 ? true : undefined));
  host.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await until('the gateway sees it', SOON_MS, async () =>
    gateway.came.find(({ message }) => message.id === 1)?.isGone ? true : undefined,
  );
  host.send(modern(3, 'other'));
  await host.answer(3);
  expect(host.lines).toHaveLength(3);
  expect(gateway.came.find(({ message }) => message.id === 2)?.isGone).toBe(false);
  expect(countOf(gateway, 'notifications/cancelled')).toBe(0);
});

it('[CLI-2] reports the end of a subscription when its stream breaks', async () => {
  const { host } = await start((_came, response) => {
    startEvents(response)('{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}');
    setImmediate(() => response.destroy());
  });
  host.send(modern(7, 'subscriptions/listen', { notifications: {} }));
  const { params } = await host.message(({ method }) => method === 'notifications/cancelled');
  expect(params?.['requestId']).toBe(7);
});
