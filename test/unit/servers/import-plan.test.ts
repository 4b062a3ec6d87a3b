/** What an import would do: decided by field, in the order of the file, with the secrets that it would store. */
import { describe, expect, it } from 'vitest';
import {
  planImport,
  toFileField,
  type PlanContext,
} from '../../../src/servers/transfer/import-plan.ts';
import { takeSecrets } from '../../../src/servers/transfer/import-secrets.ts';
import { parseMcpJson } from '../../../src/servers/transfer/mcp-json.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';

const server = (name: string, url: string) => ({ id: `id-${name}`, name, url }) as Server;
const KNOWN = [server('Taken', 'https://taken.example.com/mcp')];

function plan(file: object, more: Partial<PlanContext> = {}) {
  const parsed = parseMcpJson(JSON.stringify(file));
  if ('problem' in parsed) throw new Error(parsed.problem);
  return planImport(parsed.entries, {
    find: name => KNOWN.find(known => known.name.toLowerCase() === name.toLowerCase()),
    onConflict: 'skip',
    allowsLoopback: false,
    isFree: () => true,
    ...more,
  });
}

const remote = (host: string, headers?: object) => ({
  url: `https://${host}.example.com/mcp`,
  ...(headers ? { headers } : {}),
});

describe('a plan', () => {
  it('[REG-6] creates remote servers in the form of a registration', () => {
    const file = { mcpServers: { 'a b': { ...remote('a'), type: 'sse', description: 'd' } } };
    expect(plan(file)).toMatchObject([
      {
        givenName: 'a b',
        name: 'a-b',
        action: 'create',
        reasons: [expect.any(String)],
        input: {
          name: 'a-b',
          description: 'd',
          transport_type: 'SSE',
          connection_config: { url: 'https://a.example.com/mcp' },
          auto_connect: true,
        },
      },
    ]);
  });

  it.each([
    ['skip', 'skip', []],
    ['update', 'update', []],
    ['fail', 'invalid', ['servers.taken']],
  ] as const)(
    '[REG-6] by the rule %s does %s if a name is already taken',
    (onConflict, action, fields) => {
      const [entry] = plan({ servers: { taken: remote('x') } }, { onConflict });
      expect(entry).toMatchObject({ action, existing: { id: 'id-Taken' } });
      expect(entry?.problems.map(({ field }) => field)).toEqual(fields);
    },
  );

  it('[REG-6] takes a registry record unchanged, under its own name', () => {
    const record = {
      name: 'rec',
      transport_type: 'HTTP',
      connection_config: { url: 'https://rec.example.com/', headers: { 'X-Key': 'v' } },
      auto_connect: false,
      health_check: { interval_seconds: 5 },
    };
    const [entry] = plan({ servers: [record] });
    expect(entry).toMatchObject({
      action: 'create',
      secrets: [{ name: 'REC_X_KEY', value: 'v', origin: 'https://rec.example.com' }],
      input: {
        ...record,
        connection_config: { ...record.connection_config, headers: { 'X-Key': '${REC_X_KEY}' } },
      },
    });
  });

  it.each<[string, object, string[]]>([
    ['a private address', { url: 'https://10.1.2.3/mcp' }, ['servers.a.url']],
    ['an address that is none', { endpoint: 'nowhere' }, ['servers.a.endpoint']],
    ['a placeholder in it', { url: 'https://${HOST}/mcp' }, ['servers.a.url']],
    ['a header of the protocol', remote('a', { Accept: 'x' }), ['servers.a.headers']],
    ['a header with a line break', remote('a', { b: 'x\r\ny' }), ['servers.a.headers']],
    ['a placeholder for each user', remote('a', { b: '{{ME}}' }), ['servers.a.headers.b']],
    [
      'a record with more',
      { connection_config: { url: 'https://a.example.com' }, x: 1 },
      ['servers.a'],
    ],
  ])('[REG-6] [SEC-3] finds %s', (_what, entry, fields) => {
    const [found] = plan({ servers: { a: entry } });
    expect(found?.action).toBe('invalid');
    const named = found?.problems.map(({ field }) => field) ?? [];
    for (const field of fields) expect(named.join(' ')).toContain(field);
  });

  it('[REG-6] skips programs in any form', () => {
    const program = { name: 'p', transport_type: 'STDIO', connection_config: { command: 'x' } };
    expect(plan({ servers: [program, { name: 'q', command: 'x' }] })).toMatchObject([
      { action: 'unsupported', reasons: [expect.stringContaining('connector')] },
      { action: 'unsupported', reasons: [expect.stringContaining('connector')] },
    ]);
  });

  it('[REG-6] finds a name that a program has, which no file can edit', () => {
    const program = {
      ...server('files', 'connector://box/files'),
      transportType: 'STDIO',
    } as Server;
    const [entry] = plan(
      { servers: { files: remote('files') } },
      { onConflict: 'update', find: () => program },
    );
    expect(entry).toMatchObject({ action: 'invalid', problems: [{ field: 'servers.files' }] });
  });

  it('[REG-6] uses no secret name twice, and none that is already taken', () => {
    const file = {
      servers: {
        'a-b': remote('x', { Key: '1' }),
        a: remote('y', { 'B-Key': '2' }),
        taken: remote('taken', { Key: '3' }),
      },
    };
    const isFree = (name: string, owner?: Server) => name !== 'TAKEN_KEY' || owner !== undefined;
    const names = (context: Partial<PlanContext>) =>
      plan(file, { isFree, ...context }).flatMap(({ secrets }) => secrets.map(({ name }) => name));
    expect(names({ onConflict: 'update' })).toEqual(['A_B_KEY', 'A_B_KEY_2', 'TAKEN_KEY']);
    const moved = { servers: { taken: remote('elsewhere', { Key: '3' }) } };
    expect(plan(moved, { isFree, onConflict: 'update' })[0]?.secrets[0]?.name).toBe('TAKEN_KEY_2');
    expect(names({ onConflict: 'skip' })).toEqual(['A_B_KEY', 'A_B_KEY_2']);
  });
});

describe('secrets of headers', () => {
  const take = (headers: Record<string, string>) =>
    takeSecrets('srv', { url: 'https://srv.example.com/mcp', headers }, () => true);

  it.each([
    ['Authorization', 'Bearer abc', 'Bearer ${SRV_AUTHORIZATION}', 'abc'],
    ['Authorization', 'basic  YTpi', 'basic  ${SRV_AUTHORIZATION}', 'YTpi'],
    ['X-Api-Key', 'a b', '${SRV_X_API_KEY}', 'a b'],
    ['Cookie', 'sid=1', '${SRV_COOKIE}', 'sid=1'],
    ['X-Whatever', 'Token t', 'Token ${SRV_X_WHATEVER}', 't'],
  ])('[REG-6] [SEC-1] extracts %s: %s', (name, text, left, value) => {
    const { headers, secrets } = take({ [name]: text });
    expect(headers.headers).toEqual({ [name]: left });
    expect(secrets).toMatchObject([{ value, origin: 'https://srv.example.com' }]);
  });

  it.each([
    ['X-Team', 'blue'],
    ['Authorization', 'Bearer ${PAT}'],
    ['X-Key', ''],
    ['X-Key', ' padded '],
  ])('[REG-6] leaves %s: %j', (name, text) => {
    expect(take({ [name]: text })).toEqual({ headers: { headers: { [name]: text } }, secrets: [] });
  });
});

it('[REG-6] a field of the registry’s form gets its name in the file', () => {
  const [entry] = plan({ servers: { a: { serverUrl: 'https://a.example.com/' } } });
  if (!entry) throw new Error('no entry');
  expect(toFileField(entry, 'connection_config.url')).toBe('servers.a.serverUrl');
  expect(toFileField(entry, 'connection_config.headers.X')).toBe('servers.a.headers.X');
  expect(toFileField(entry, 'health_check_url')).toBe('servers.a.health_check_url');
  expect(toFileField(entry, '')).toBe('servers.a');
});
