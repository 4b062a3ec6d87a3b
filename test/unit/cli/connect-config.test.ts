/** Which servers `portico connect` runs, as its file configures them. */
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../cli/src/connect/config.ts';
import { fillVariables } from '../../../local/variables.ts';

const FILE = '/etc/portico/mcp.json';
const read = (document: unknown, env: Record<string, string> = {}) =>
  readConfig(JSON.stringify(document), FILE, env);
const thrown = (document: unknown, env: Record<string, string> = {}): string => {
  try {
    read(document, env);
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
};

describe('[CLI-1] [REG-6] an mcp.json', () => {
  it.each([
    ['mcpServers', { mcpServers: { a: { command: 'x', args: ['-y', 1] } } }],
    ['servers and a type', { servers: { a: { type: 'stdio', command: 'x', args: ['-y', '1'] } } }],
    ['a command that is a list', { mcpServers: { a: { command: ['x', '-y', '1'] } } }],
    ['a list of servers', { mcpServers: [{ name: 'a', command: 'x', args: ['-y', '1'] }] }],
  ])('may have %s', (_what, document) => {
    expect(read(document).servers).toMatchObject([{ name: 'a', command: 'x', args: ['-y', '1'] }]);
  });

  it('may have comments and trailing commas', () => {
    const text = `{ // mine\n "mcpServers": { "a": { "command": "x", }, }, }`;
    expect(readConfig(text, FILE, {}).servers).toMatchObject([{ key: 'a', command: 'x' }]);
  });

  it('has the members under `portico` that only this command reads', () => {
    const tools = { allow: ['read_*'], deny: ['read_all'] };
    const portico = { description: 'Notes', tools, capabilities: ['sampling'], era: 'legacy' };
    const a = { command: 'x', cwd: 'notes', env: { K: 1 }, description: 'other', portico };
    expect(read({ mcpServers: { a } }).servers[0]).toEqual({
      key: 'a',
      name: 'a',
      command: 'x',
      args: [],
      env: { K: '1' },
      cwd: '/etc/portico/notes',
      secrets: [],
      hidden: [],
      description: 'Notes',
      tools,
      capabilities: ['sampling'],
      era: 'legacy',
    });
  });

  it.each([
    [{ tool: {} }, 'a: portico'],
    [{ tools: { allow: 'x' } }, 'a: portico.tools.allow'],
    [{ capabilities: ['root'] }, 'a: portico.capabilities.0'],
    [{ era: 'both' }, 'a: portico.era'],
    [{ tools: { denied: [] } }, 'a: portico.tools'],
  ])('with %j under `portico` is refused, so that no list is overlooked', (portico, where) => {
    expect(thrown({ mcpServers: { a: { command: 'x', portico } } })).toContain(where);
  });

  it('reports what it leaves out, and why', () => {
    const { servers, skipped } = read({
      mcpServers: {
        far: { url: 'https://mcp.example.com' },
        off: { command: 'x', disabled: true },
        odd: { command: 'x', args: 'y' },
        wrapped: { command: 'npx', args: ['mcp-remote', 'https://mcp.example.com'] },
        a: { command: 'x' },
      },
    });
    expect(servers.map(({ key }) => key)).toEqual(['a']);
    expect(skipped).toEqual([
      { key: 'far', reason: 'remote; register it with `portico import`' },
      { key: 'off', reason: 'disabled in the file' },
      { key: 'odd', reason: 'mcpServers.odd.args is not a list of strings' },
      { key: 'wrapped', reason: 'remote; register it with `portico import`' },
    ]);
  });

  it.each([
    ['my files', 'my-files'],
    ['@scope/pkg', 'scope-pkg'],
    ['a.b', 'a-b'],
    ['Notizbücher', 'Notizbucher'],
    ['x'.repeat(70), 'x'.repeat(63)],
  ])('maps the key %j to the name %s', (key, name) => {
    expect(read({ mcpServers: { [key]: { command: 'x' } } }).servers[0]).toMatchObject({
      key,
      name,
    });
  });

  it.each([
    [{ 'a.b': { command: 'x' }, 'a b': { command: 'y' } }, "'a.b' and 'a b'"],
    [{ A: { command: 'x' }, a: { command: 'y' } }, "'A' and 'a'"],
    [{ '..': { command: 'x' } }, 'no letter or digit'],
    [{ far: { url: 'https://mcp.example.com' } }, 'has no stdio server to run'],
  ])('%j is refused', (mcpServers, message) => {
    expect(thrown({ mcpServers })).toContain(message);
  });

  it('has 1,000 servers at most', () => {
    const entries = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, { command: 'x' }]));
    expect(read({ mcpServers: entries(1_000) }).servers).toHaveLength(1_000);
    expect(thrown({ mcpServers: entries(1_001) })).toContain('has 1001 stdio servers');
  });

  it('shows no control characters of its keys', () => {
    expect(thrown({ mcpServers: { '\u001B[2J': { command: 'x', portico: 1 } } })).not.toContain(
      '\u001B',
    );
  });
});

describe('[CLI-1] variables', () => {
  const env = { KEY: 'geheim', EMPTY: '' };

  it.each([
    ['${KEY}', 'geheim'],
    ['Bearer ${env:KEY}!', 'Bearer geheim!'],
    ['{env:KEY}', 'geheim'],
    ['${NONE:-else}', 'else'],
    ['${EMPTY}', ''],
    ['$KEY ${} ${1x} $(KEY)', '$KEY ${} ${1x} $(KEY)'],
  ])('%j becomes %j', (text, filled) => {
    expect(fillVariables(text, env)).toMatchObject({ text: filled, missing: [] });
  });

  it('are not expanded again in replaced text', () => {
    expect(fillVariables('${A}', { A: '${KEY}', KEY: 'x' }).text).toBe('${KEY}');
  });

  it('are filled in command, args, env and cwd', () => {
    const a = { command: '${K}', args: ['${K}'], env: { V: '${K}' }, cwd: '/${K}' };
    expect(read({ mcpServers: { a } }, { K: 'k' }).servers[0]).toMatchObject({
      command: 'k',
      args: ['k'],
      env: { V: 'k' },
      cwd: '/k',
      secrets: ['k'],
    });
  });

  it('that are missing are reported with their server, without any value', () => {
    const a = { command: 'x', args: ['${ONE}', '${KEY}'], env: { A: '${TWO}', B: '${ONE}' } };
    const message = thrown({ mcpServers: { a } }, env);
    expect(message).toBe('a needs environment variables that are not set: ONE, TWO');
  });

  it('in args cause a warning, in env they do not', () => {
    const inArgs = { command: 'x', args: ['${KEY}'] };
    const { warnings } = read(
      { mcpServers: { a: inArgs, b: { command: 'x', env: { K: '${KEY}' } } } },
      env,
    );
    expect(warnings).toEqual([
      'a: KEY is in args, where every user of this machine can read it; prefer env',
    ]);
  });
});
