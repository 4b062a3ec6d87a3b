/** If the answer is not of a gateway, or has another form, a command says so in one line and ends. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { EXIT, reportFailure } from '../../../cli/src/failure.ts';
import { Api } from '../../../cli/src/gateway/api.ts';
import { keysOf, rotateAll } from '../../../cli/src/keys/rotate.ts';

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach(close => close()));

/** A server with the same answer to everything. */
async function answering(body: string, status = 200): Promise<Api> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  closing.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return new Api(new URL(`http://127.0.0.1:${port}`), undefined);
}

const NO_GATEWAY = /^http:\/\/127\.0\.0\.1:\d+ is not a Portico gateway; is --url right\?$/;

it.each([['null'], ['[]'], ['5'], ['"tools"'], [''], ['{"a":'], ['<html>']])(
  '[CLI-4] where a value is expected, %j is no answer of a gateway',
  async body => {
    const api = await answering(body);
    await expect(api.json('GET', '/api/v1/token')).rejects.toThrow(NO_GATEWAY);
    await expect(api.list('/api/v1/tokens', 'tokens')).rejects.toThrow(NO_GATEWAY);
  },
);

it.each([
  ['{}'],
  ['{"tokens":null}'],
  ['{"tokens":{}}'],
  ['{"tokens":[null]}'],
  ['{"tokens":[5]}'],
])('[CLI-4] %s is no list, not even an empty one', async body => {
  const api = await answering(body);
  await expect(api.list('/api/v1/tokens', 'tokens')).rejects.toThrow(NO_GATEWAY);
});

it('[CLI-4] an answer that breaks off in its body is told as a gateway that cannot be reached', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('{"a":', () => response.destroy());
  });
  closing.push(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const api = new Api(new URL(`http://127.0.0.1:${port}`), undefined);
  await expect(api.json('GET', '/api/v1/token')).rejects.toThrow(
    /cannot be reached \(.*see portico/,
  );
});

it('[CLI-4] a deletion needs no body in the answer', async () => {
  const api = await answering('', 204);
  expect(await api.json('DELETE', '/api/v1/tokens/a')).toBe(undefined);
  await expect(api.json('GET', '/api/v1/tokens/a')).rejects.toThrow(NO_GATEWAY);
});

it.each([['{}'], ['{"remaining":1}'], ['{"remaining":"1","next":"a"}']])(
  '[CLI-4] a rotation whose answer is %s ends at once',
  async body => {
    const seen: unknown[] = [];
    const rotated = rotateAll(keysOf(await answering(body)), 50, progress => seen.push(progress));
    await expect(rotated).rejects.toThrow('does not report the progress of the rotation');
    expect(seen).toEqual([]);
  },
);

it('[CLI-4] an answer of another form is reported with advice, and other errors are not', () => {
  const said: string[] = [];
  const report = (error: unknown) => {
    expect(reportFailure(error, { write: text => said.push(text) })).toBe(EXIT.failed);
    return said.pop();
  };
  const { tools } = JSON.parse('{}') as { tools: string[] };
  let unforeseen: unknown;
  try {
    tools.map(String);
  } catch (error) {
    unforeseen = error;
  }
  expect(report(unforeseen)).toMatch(/^portico: .*\(.*\); is --url a Portico gateway .*\n$/);
  expect(report(new TypeError('fetch failed', { cause: new Error('refused') }))).toBe(
    'portico: fetch failed\n',
  );
  expect(report(new Error('no room'))).toBe('portico: no room\n');
});
