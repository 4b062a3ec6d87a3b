/** An edit of the servers while they are being sent to the gateway: the connection is opened with all of them registered. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRun } from '../../../cli/src/connect/run.ts';
import { QUIET } from '../../../cli/src/connect/view.ts';

const configOf = (name: string) => ({
  key: name,
  name,
  command: name,
  args: [],
  env: {},
  secrets: [],
  hidden: [],
  description: '',
  tools: {},
});

/** What reached the gateway, in order: the names of each list, and `dialled`. */
const seen: string[] = [];
const onDial = Promise.withResolvers<void>();
let onList: () => Promise<unknown> = async () => {};
const gateway = createServer((request, response) => void answer(request, response));
gateway.on('upgrade', (_request, socket) => {
  seen.push('dialled');
  onDial.resolve();
  socket.destroy();
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { servers } = JSON.parse(await text(request)) as { servers: { name: string }[] };
  const names = servers.map(({ name }) => name);
  seen.push(names.join(' '));
  await onList();
  const told = names.map(name => ({ name, id: `id-${name}` }));
  response.end(JSON.stringify({ connector: { id: 'c', name: 'here' }, servers: told }));
}

beforeAll(async () => {
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
});
afterAll(() => void gateway.close());

it('[CLI-1] sends a server that an edit adds meanwhile before it dials', async () => {
  const { port } = gateway.address() as AddressInfo;
  const run = startRun({
    origin: `http://127.0.0.1:${port}`,
    token: 'token',
    servers: [configOf('one')],
    createAdapter: () => ({
      handle: () => Promise.reject(new Error('not asked')),
      stop: async () => {},
      kill: () => {},
    }),
    view: QUIET,
    isVerbose: false,
    keepaliveMs: 20_000,
    drainMs: 0,
  });
  onList = () => {
    onList = async () => {};
    return run.update([configOf('one'), configOf('two')]);
  };
  await onDial.promise;
  run.stop();
  await run.done;
  expect(seen.slice(0, seen.indexOf('dialled'))).toEqual(['one', 'one two']);
});
