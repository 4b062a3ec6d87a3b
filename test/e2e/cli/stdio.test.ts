/** `portico stdio` between real hosts and a real gateway with real servers behind it: a host gets the same as over HTTP. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, TRUSTED, type Gateway } from '../support/gateway.ts';
import { COMPILE_CACHE, MAIN } from '../support/portico-command.ts';
import { clients } from '../support/sdk-clients.ts';
import { hosts, type StdioHost } from '../support/stdio-clients.ts';

/** Less than a call may take. */
const SOON_MS = 20_000;
/** Two check cycles of a monitor, which discovers again when it no longer gets its server's notifications. */
const TOLD_MS = 60_000;
const inspector = fileURLToPath(
  new URL(
    '../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
    import.meta.url,
  ),
);
const servers = ['legacy', 'modern'] as const;
/** How often the tools of a server were changed. */
const changes = { legacy: 0, modern: 0 };
const upstreams: Upstream[] = [];
let gateway: Gateway;
let home: string;

beforeAll(async () => {
  const [started, legacy, modern, richLegacy, richModern] = await Promise.all([
    startGateway({
      env: { PORTICO_KEEP_ALIVE_MS: '1000', PORTICO_DISCOVERY_INTERVAL_MS: '3600000' },
    }),
    startFixture('conformance-legacy'),
    startFixture('conformance-modern', { era: 'modern' }),
    startFixture('rich-legacy'),
    startFixture('rich-modern'),
  ]);
  gateway = started;
  upstreams.push(legacy, modern, richLegacy, richModern);
  home = await mkdtemp(join(tmpdir(), 'portico-inspector-'));
  await Promise.all([
    gateway.register('legacy', `${legacy.origin}/mcp`, TRUSTED),
    gateway.register('modern', `${modern.origin}/mcp`, TRUSTED),
    gateway.register('rich-legacy', `${richLegacy.origin}/mcp`),
    gateway.register('rich-modern', `${richModern.origin}/mcp`),
  ]);
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all(upstreams.map(upstream => upstream.stop()));
  await rm(home, { recursive: true, force: true });
});

const textOf = (result: Record<string, unknown>) =>
  (result['content'] as { text?: string }[]).map(({ text }) => text).join('\n');

describe.each(Object.entries(hosts))('a host with the %s', (_name, connect) => {
  let host: StdioHost;
  beforeAll(async () => {
    host = await connect(gateway.origin, gateway.adminToken);
  });
  afterAll(() => host?.close());

  it('[CLI-2] lists what a client over HTTP lists', async () => {
    const over = host.era === 'modern' ? 'SDK 2.x auto' : 'SDK 1.x';
    const url = `${gateway.origin}/mcp`;
    const direct = await clients[over]({ url, token: gateway.adminToken });
    const listed = await host.listTools();
    expect(listed.map(({ name }) => name)).toContain('rich-legacy.echo');
    expect(listed).toEqual(await direct.listTools());
    await direct.close();
  });

  it.each(servers)('[CLI-2] calls a %s server', async server => {
    const result = await host.call(`rich-${server}.echo`, { message: 'héllo \u2028 there' });
    expect(result['content']).toEqual([{ type: 'text', text: 'Echo: héllo \u2028 there' }]);
    const content = await host.call(`rich-${server}.unicode`);
    const url = `${gateway.origin}/mcp`;
    const direct = await clients['SDK 1.x']({ url, token: gateway.adminToken });
    const expected = await direct.callTool(`rich-${server}.unicode`);
    expect(content['content']).toEqual(expected['content']);
    await direct.close();
  });

  it.each(servers)('[CLI-2] is asked for a sample by a %s server', async server => {
    expect(textOf(await host.call(`${server}.test_sampling`, { prompt: 'hi' }))).toContain(
      'sampled here',
    );
  });

  it.each(servers)('[CLI-2] is asked to fill in a form by a %s server', async server => {
    expect(textOf(await host.call(`${server}.test_elicitation`, { message: 'who?' }))).toContain(
      '"username":"ada"',
    );
  });

  it.each(servers)('[CLI-2] gets the progress of a %s server', async server => {
    host.heard.length = 0;
    const onprogress = () => undefined;
    expect(textOf(await host.call(`rich-${server}.steps`, {}, { onprogress }))).toBe('done');
    const steps = host.heard.filter(({ method }) => method === 'notifications/progress');
    expect(steps.map(({ params }) => params?.['progress'])).toEqual([1, 2, 3]);
  });

  it.each(servers)('[CLI-2] cancels a call at a %s server', async server => {
    const runs = async (of: string) =>
      Number(textOf(await host.call(`rich-${server}.executions`, { of })));
    const [begun, cancelled] = [await runs('hang'), await runs('hang, cancelled')];
    const abort = new AbortController();
    const call = host.call(`rich-${server}.hang`, {}, { signal: abort.signal });
    const refusal = call.catch(String);
    await until('the call has begun', SOON_MS, async () =>
      (await runs('hang')) > begun ? true : undefined,
    );
    abort.abort('not any more');
    expect(await refusal).toMatch(/not any more/);
    await until('the server heard of it', SOON_MS, async () =>
      (await runs('hang, cancelled')) > cancelled ? true : undefined,
    );
  });

  it.each(servers)('[CLI-2] is notified that the tools of a %s server changed', async server => {
    const before = host.changes();
    const body = { name: `${server}.test_trigger_tool_change`, arguments: {} };
    await until('the host was told', TOLD_MS, async () => {
      const { status } = await gateway.api('POST', '/api/v1/tools/call', body);
      expect(status).toBe(200);
      changes[server] += 1;
      return host.changes() > before ? true : undefined;
    });
    // Waits, so that the next test lists nothing that is still changing.
    await until('the last change is listed', TOLD_MS, async () => {
      const { json } = await gateway.api('GET', '/api/v1/tools');
      const listed = json['servers'] as { name: string; tools: Record<string, string>[] }[];
      const tools = listed.find(({ name }) => name === server)?.tools;
      const changing = tools?.find(tool => tool['original_name'] === 'test_changing_tool');
      return changing?.['description'] === `Changed ${changes[server]} times` || undefined;
    });
  });
});

describe('mirrored parameters', () => {
  it.each([true, false])('[CLI-2] are written into headers, listed before: %s', async isListed => {
    const connect = hosts['SDK 2.x auto'];
    const host = await connect?.(gateway.origin, gateway.adminToken);
    if (isListed) await host?.listTools();
    const result = await host?.call('rich-modern.mirrored', { region: 'ü eu' });
    expect(JSON.parse(textOf(result ?? {}))).toEqual({
      'mcp-method': 'tools/call',
      'mcp-name': 'mirrored',
      'mcp-param-region': `=?base64?${Buffer.from('ü eu').toString('base64')}?=`,
    });
    await host?.close();
  });
});

describe('other endpoints', () => {
  it('[CLI-2] serve one server and a toolset', async () => {
    const toolset = { name: 'echoes', include: ['rich-legacy.echo'] };
    expect((await gateway.api('POST', '/api/v1/toolsets', toolset)).status).toBe(201);
    const names = async (path: string) => {
      const host = await hosts['SDK 1.x']?.(`${gateway.origin}${path}`, gateway.adminToken);
      const listed = await host?.listTools();
      await host?.close();
      return listed?.map(({ name }) => name);
    };
    expect(await names('/mcp/servers/rich-legacy')).toContain('echo');
    expect(await names('/mcp/toolsets/echoes')).toEqual(['rich-legacy.echo']);
    expect(await names('/mcp?names=underscore')).toContain('rich-legacy__echo');
  });
});

describe.each(['legacy', 'auto', 'modern'])('the Inspector in the %s era', era => {
  const inspect = async (...args: string[]): Promise<unknown> => {
    // On a busy machine a start may take longer than the Inspector waits by default.
    const shape = ['--protocol-era', era, '--format', 'json', '--quiet', '--connect-timeout', '0'];
    const env = [
      '-e',
      `PORTICO_URL=${gateway.origin}`,
      '-e',
      `PORTICO_TOKEN=${gateway.adminToken}`,
    ];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [inspector, '--cli', process.execPath, MAIN, 'stdio', ...env, ...shape, ...args],
      { env: { PATH: process.env['PATH'], HOME: home, ...COMPILE_CACHE }, timeout: 120_000 },
    );
    return (JSON.parse(stdout) as { result: unknown }).result;
  };

  it('[CLI-2] lists and calls', async () => {
    const list = (await inspect('--method', 'tools/list')) as { tools: { name: string }[] };
    expect(list.tools.map(({ name }) => name)).toContain('rich-modern.echo');
    const name = ['--tool-name', 'rich-modern.echo', '--tool-args-json', '{"message":"hello"}'];
    const result = await inspect('--method', 'tools/call', ...name);
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'Echo: hello' }] });
  });
});
