/** `portico servers` against a real gateway: list, add, edit, connect, disconnect, remove. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico, type Ran, type RunOptions } from '../support/portico-command.ts';

let gateway: Gateway;
let upstream: Upstream;
let spare: Upstream;
/** A token that may list and call tools, nothing else. */
let member: string;

beforeAll(async () => {
  [gateway, upstream, spare] = await Promise.all([
    startGateway(),
    startFixture('rich-modern'),
    startFixture('rich-legacy'),
  ]);
  await gateway.register('rich', `${upstream.origin}/mcp`);
  member = (await gateway.createToken({ name: 'member' })).token;
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([upstream?.stop(), spare?.stop()]);
});

/** Runs a command as the admin. */
const portico = (args: string[], options: RunOptions = {}): Promise<Ran> =>
  runPortico(args, {
    ...options,
    env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken, ...options.env },
  });

describe('servers', () => {
  it('[CLI-4] are listed, for people and for programs', async () => {
    const { code, out, err } = await portico(['servers']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [heading, row] = out.split('\n');
    expect(heading).toMatch(/^NAME +STATUS +HEALTH +TOOLS +TYPE +LAST ERROR$/);
    expect(row).toMatch(/^rich +CONNECTED +\w+ +\d+ +HTTP$/);
    const all = (await portico(['servers', '--json'])).json<{ name: string; id: string }[]>();
    expect(all.map(({ name }) => name)).toContain('rich');
  });

  it('[CLI-4] are added, disconnected, connected and removed', async () => {
    const header = 'X-Key: ${SPARE_KEY}';
    const url = `${spare.origin}/mcp`;
    const added = await portico(['servers', 'add', 'spare', url, '--header', header, '--json'], {
      env: { SPARE_KEY: 's3cret-value' },
    });
    expect(added.json()).toMatchObject({
      name: 'spare',
      status: 'CONNECTED',
      connection_config: { url, headers: { 'X-Key': null } },
    });
    expect(added.out + added.err).not.toContain('s3cret-value');
    const down = await portico(['servers', 'disconnect', 'spare']);
    expect(down).toMatchObject({ code: 0, out: '', err: 'spare is DISCONNECTED\n' });
    const seen = await portico(['servers', 'show', 'spare']);
    expect(seen).toMatchObject({ code: 0, out: expect.stringMatching(/^status +DISCONNECTED$/m) });
    expect((await portico(['servers', 'show', 'spare', '--json'])).json()).toMatchObject({
      connection_config: { url, headers: { 'X-Key': null } },
    });
    const up = await portico(['servers', 'connect', 'spare']);
    expect(up.err).toMatch(/^spare is CONNECTED, \d+ tools\n$/);
    expect(await portico(['servers', 'remove', 'spare'])).toMatchObject({
      code: 0,
      err: "server 'spare' is removed\n",
    });
    const again = await portico(['servers', 'remove', 'spare']);
    expect(again).toMatchObject({
      code: 4,
      err: expect.stringMatching(/there is no server 'spare'/),
    });
  });

  it('[CLI-4] that fail are reported with their error, and exit code 1', async () => {
    const add = await portico(['servers', 'add', 'nobody', 'http://127.0.0.1:1/mcp']);
    expect(add).toMatchObject({
      code: 1,
      err: expect.stringMatching(/nobody is ERROR\n.*reached/),
    });
    await portico(['servers', 'remove', 'nobody']);
    const wrong = await portico(['servers', 'add', 'no name', 'ftp://x']);
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^portico: name: use 1 to 63/),
    });
  });

  it('[CLI-4] that need a credential are reported, and exit code 1', async () => {
    const challenging = createServer((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    }).listen(0, '127.0.0.1');
    await once(challenging, 'listening');
    const { port } = challenging.address() as AddressInfo;
    const add = await portico(['servers', 'add', 'locked', `http://127.0.0.1:${port}/mcp`]);
    expect(add).toMatchObject({
      code: 1,
      err: expect.stringMatching(/locked is \w+\n.*credential/),
    });
    await portico(['servers', 'remove', 'locked']);
    challenging.close();
  });

  it('[CLI-4] are edited: name, address and headers', async () => {
    const other = await startFixture('rich-legacy');
    await portico(['servers', 'add', 'before', `${other.origin}/mcp`, '--header', 'X-Key: one']);
    const renamed = await portico(['servers', 'edit', 'before', '--name', 'after']);
    expect(renamed).toMatchObject({ code: 0, err: expect.stringMatching(/^after is CONNECTED/) });
    const gone = await portico(['servers', 'edit', 'before', '--name', 'x']);
    expect(gone).toMatchObject({ code: 4, err: expect.stringMatching(/there is no server/) });
    const url = `${spare.origin}/mcp`;
    const moved = await portico([
      'servers',
      'edit',
      'after',
      url,
      '--header',
      'X-Own: 1',
      '--json',
    ]);
    expect(moved.json()).toMatchObject({
      name: 'after',
      status: 'CONNECTED',
      connection_config: { url, headers: { 'X-Own': null } },
    });
    const nothing = await portico(['servers', 'edit', 'after']);
    expect(nothing).toMatchObject({ code: 2, err: expect.stringMatching(/name what to change/) });
    const refused = await portico(['servers', 'edit', 'after', '--name', 'x'], {
      env: { PORTICO_TOKEN: member },
    });
    expect(refused.code).toBe(3);
    expect((await portico(['servers', 'edit', 'after', 'ftp://x'])).code).toBe(2);
    await portico(['servers', 'remove', 'after']);
    await other.stop();
  });
});
