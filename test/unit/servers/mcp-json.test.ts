/** `mcp.json` as clients write it: samples of each under `test/fixtures/mcp-json`, and the parsed entries. */
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseMcpJson } from '../../../src/servers/transfer/mcp-json.ts';
import type { McpEntry } from '../../../src/servers/transfer/mcp-entry.ts';

const FOLDER = new URL('../../fixtures/mcp-json/', import.meta.url);

const read = (text: string): McpEntry[] => {
  const parsed = parseMcpJson(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.entries;
};
const parse = (document: unknown) => read(JSON.stringify(document));

/** An entry in one line: its kind, and how it is reached. */
function toLine(entry: McpEntry): string {
  const off = entry.isDisabled ? ' (off)' : '';
  if (entry.kind === 'remote') {
    const headers = Object.entries(entry.headers).map(([name, value]) => ` ${name}=${value}`);
    return `${entry.name}: ${entry.transportType} ${entry.url}${headers.join('')}${off}`;
  }
  if (entry.kind === 'stdio') {
    const env = Object.entries(entry.env).map(([name, value]) => `${name}=${value} `);
    return `${entry.name}: ${env.join('')}${[entry.command, ...entry.args].join(' ')}${off}`;
  }
  if (entry.kind === 'record') return `${entry.name}: record`;
  return `${entry.name}: ${entry.problems.map(({ field, message }) => `${field} ${message}`).join('; ')}`;
}

const samples: Record<string, string[]> = {
  'claude-desktop.json': [
    'filesystem: npx -y @modelcontextprotocol/server-filesystem /data/notes',
    'Linear (remote): SSE https://mcp.linear.example/sse',
    'billing: HTTP https://billing.example.com/mcp Authorization=Bearer bill-secret-1 X-Tenant=acme',
  ],
  'claude-code.json': [
    'github: HTTP https://api.github.example/mcp/ Authorization=Bearer ${GITHUB_PAT}',
    'api: SSE ${API_BASE:-https://api.example.com}/sse X-API-Key=${API_KEY:-none}',
    'local: LOG=1 uvx mcp-server-git --repository .',
  ],
  'cursor.json': [
    'docs: HTTP https://docs.example.com/mcp',
    'events: SSE https://events.example.com/sse Authorization=Bearer ${env:EVENTS_TOKEN}',
    'python: python server.py',
  ],
  'vscode.jsonc': [
    'figma: HTTP https://mcp.figma.example/mcp X-Figma-Token=${input:figma-token}',
    'playwright: npx -y @playwright/mcp@latest',
  ],
  'vscode-settings.json': ['search: HTTP https://search.example.com/mcp'],
  'windsurf.json': [
    'remote: HTTP https://remote.example.com/mcp API_KEY=Bearer wind-secret-1',
    'off: SSE https://off.example.com/sse (off)',
  ],
  'cline.json': [
    'weather service: HTTP https://weather.example.com/mcp Authorization=Bearer cline-secret-1',
    'old: SSE https://old.example.com/events',
  ],
  'zed.jsonc': [
    'remote: HTTP https://zed.example.com/mcp Authorization=Bearer zed-secret-1',
    'custom: KEY=v node server.js --stdio',
    'flat: node a.js (off)',
  ],
  'continue.json': [
    'Docs & Wiki: HTTP https://wiki.example.com/mcp Authorization=Bearer ${{ secrets.WIKI }}',
    'sqlite: npx -y mcp-sqlite /data/a.db',
    'plain: SSE https://plain.example.com/events',
  ],
  'continue-old.json': ['old: SSE https://old.example.com/sse', 'cmd: uvx mcp-x'],
  'librechat.json': [
    'spotify: HTTP https://spotify.example.com/mcp X-Key=${SPOTIFY_KEY}',
    'per-user: SSE https://user.example.com/sse X-User-ID={{LIBRECHAT_USER_ID}}',
    'socket: mcpServers.socket.type is not a transport; use "http", "sse" or "stdio"',
  ],
  'gemini-cli.json': [
    'stream: HTTP https://gemini.example.com/sse X-Key=gem-secret-1',
    'events: SSE https://gemini.example.com/sse',
    'tool: N=3 ./bin/server',
  ],
  'opencode.json': [
    'jira: HTTP https://jira.example.com/mcp Authorization=Bearer {env:JIRA}',
    'everything: A=b npx -y @modelcontextprotocol/server-everything (off)',
  ],
};

describe('samples of clients', () => {
  it('[REG-6] are all covered here', () => {
    expect(readdirSync(FOLDER).toSorted()).toEqual(Object.keys(samples).toSorted());
  });

  it.each(Object.entries(samples))('[REG-6] %s', (file, lines) => {
    expect(read(readFileSync(new URL(file, FOLDER), 'utf8')).map(toLine)).toEqual(lines);
  });
});

describe('an entry', () => {
  it.each(['http', 'HTTP', 'streamable-http', 'streamable_http', 'streamableHttp', 'http-stream'])(
    '[REG-6] of type %s is Streamable HTTP, whatever the key of the type',
    type => {
      const url = 'https://a.example.com/sse';
      for (const key of ['type', 'transport', 'transportType', 'transport_type']) {
        expect(parse({ mcpServers: { a: { [key]: type, url } } })).toMatchObject([
          { kind: 'remote', transportType: 'HTTP' },
        ]);
      }
    },
  );

  it.each(['url', 'endpoint', 'serverUrl', 'httpUrl', 'uri', 'server_url'])(
    '[REG-6] takes its address from %s',
    key => {
      const [entry] = parse({ servers: { a: { [key]: 'https://a.example.com/mcp' } } });
      expect(entry).toMatchObject({
        kind: 'remote',
        transportType: 'HTTP',
        url: 'https://a.example.com/mcp',
        fields: { url: `servers.a.${key}`, headers: 'servers.a.headers' },
      });
    },
  );

  it('[REG-6] with a byte order mark, as editors on Windows write it, is read', () => {
    const [entry] = read('\uFEFF{"mcpServers": {"a": {"command": "x"}}}');
    expect(entry).toMatchObject({ kind: 'stdio', name: 'a' });
  });

  it.each(['', ' ', ' \n\t'])('[REG-6] with the description %j has none', description => {
    const [entry] = parse({ mcpServers: { a: { url: 'https://a.example.com/', description } } });
    expect(entry).not.toHaveProperty('description');
  });

  it('[REG-6] of the registry is passed on', () => {
    const record = { name: 'a', transport_type: 'HTTP', connection_config: { url: 'x' } };
    expect(parse({ servers: [record] })).toEqual([
      { kind: 'record', name: 'a', path: 'servers.0', isDisabled: false, record },
    ]);
  });

  it.each<[string, unknown, string[]]>([
    ['a text', 'x', ['mcpServers.a']],
    ['nothing', {}, ['mcpServers.a']],
    ['only a type', { type: 'http' }, ['mcpServers.a.url']],
    ['an address that is no text', { url: 7 }, ['mcpServers.a.url']],
    ['headers that are no object', { url: 'x', headers: [] }, ['mcpServers.a.headers']],
    ['a header that is no text', { url: 'x', headers: { b: {} } }, ['mcpServers.a.headers.b']],
    ['a type that is none', { url: 'x', type: 'pigeon' }, ['mcpServers.a.type']],
    ['stdio without a command', { type: 'stdio' }, ['mcpServers.a.command']],
    ['an empty command', { command: [] }, ['mcpServers.a.command']],
    ['arguments that are no list', { command: 'x', args: 'y' }, ['mcpServers.a.args']],
    ['two mistakes', { command: 'x', args: 1, env: 1 }, ['mcpServers.a.env', 'mcpServers.a.args']],
  ])('[REG-6] of %s is broken, and each field is named', (_what, entry, fields) => {
    expect(parse({ mcpServers: { a: entry, b: { url: 'https://b.example.com/' } } })).toMatchObject(
      [
        { kind: 'broken', problems: fields.map(field => ({ field })) },
        { kind: 'remote', name: 'b' },
      ],
    );
  });

  it('[REG-6] of a list needs a name', () => {
    expect(parse({ mcpServers: [{ url: 'https://a.example.com/' }] })).toMatchObject([
      { kind: 'broken', problems: [{ field: 'mcpServers.0.name', message: 'is missing' }] },
    ]);
  });

  it('[REG-6] with the name of an object member is an entry like others', () => {
    const text = '{"mcpServers":{"__proto__":{"url":"https://a.example.com/"},"toString":{}}}';
    expect(read(text).map(({ kind, name }) => [kind, name])).toEqual([
      ['remote', '__proto__'],
      ['broken', 'toString'],
    ]);
  });
});

it.each([
  '{',
  '[]',
  'null',
  '""',
  '{"mcpServers": 7}',
  '{"mcpServers": "x"}',
  '{}',
  '{"other": {}}',
])('[REG-6] the text %s is no mcp.json', text => {
  expect(parseMcpJson(text)).toEqual({ problem: expect.any(String) as string });
});

it('[REG-6] comments and trailing commas are removed, but nothing within strings', () => {
  const [entry] = read('// a\n{"servers":{"a":{"url":"https://a.example.com//b/*c*/",},},}\n');
  expect(entry).toMatchObject({ url: 'https://a.example.com//b/*c*/' });
});
