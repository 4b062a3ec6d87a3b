/** What a machine does at a gateway that knows its name already, or knows neither its name nor its token. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { storeToken } from '../../../cli/src/connect/device-tokens.ts';
import { enrolOnce } from '../../../cli/src/connect/enrolment.ts';
import { enrolSelf } from '../../../cli/src/up/own-connector.ts';

const tokenOf = (fill: number) => `portico_device_${Buffer.alloc(32, fill).toString('base64url')}`;
const [OLD, NEW] = [tokenOf(1), tokenOf(2)];

/** The token of the gateway's connector; undefined where there is none, and no room for another. */
let current: string | undefined;
const gateway = createServer((request, response) => {
  const send = (status: number, body: object) => {
    response.writeHead(status).end(JSON.stringify(body));
  };
  const connector = { id: 'c', name: 'this-machine' };
  request.resume();
  if (request.url?.endsWith('/self/servers')) {
    const isKnown = request.headers.authorization === `Bearer ${current}`;
    return send(isKnown ? 200 : 401, { connector, servers: [] });
  }
  if (!request.url?.endsWith('/rotate')) return send(409, { detail: 'exists, or too many' });
  if (current === undefined) return send(404, { detail: 'No such connector' });
  current = NEW;
  send(200, { connector, token: NEW });
});
let origin: string;
let folder: string;

beforeAll(async () => {
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  origin = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-enrolment-'));
  return () => rm(folder, { recursive: true });
});
afterAll(() => void gateway.close());

it.each([
  ['keeps its token', OLD, OLD],
  ['gets another where its token was rotated', tokenOf(3), NEW],
])('[CLI-3] portico up %s', async (_what, known, expected) => {
  current = known;
  const path = join(folder, 'connectors.json');
  await storeToken(path, 'this-machine', { name: 'this-machine', token: OLD });
  expect(await enrolSelf(folder, origin, 'admin')).toBe(expected);
  expect(await enrolSelf(folder, origin, 'admin')).toBe(expected);
});

it('[CLI-1] a gateway without room for another connector is not told to have one of this name', async () => {
  current = undefined;
  const enrol = (replaces: boolean) =>
    enrolOnce(join(folder, 'tokens.json'), origin, 'admin', 'desk', replaces);
  await expect(enrol(false)).rejects.toThrow("has a connector 'desk' already, or too many");
  await expect(enrol(true)).rejects.toThrow("has no connector 'desk', and no room for another");
});
