/** Which servers of an mcp.json can be registered, and the messages about the others. */
import { expect, it } from 'vitest';
import { parseServerConfig } from '../../../local/config-file.ts';

const parse = (document: unknown, env = {}) =>
  parseServerConfig(JSON.stringify(document), 'mcp.json', env);

it('[REG-6] reads the common forms', () => {
  const { servers, skipped } = parse({
    mcpServers: {
      plain: { url: 'https://a.example/mcp' },
      typed: { type: 'http', url: 'https://b.example/', headers: { 'X-Key': 'k' } },
      streamable: { transport: 'streamable-http', endpoint: 'https://c.example/sse' },
      events: { type: 'sse', url: 'https://d.example/events' },
      guessed: { url: 'https://e.example/sse' },
    },
  });
  expect(skipped).toEqual([]);
  expect(servers).toEqual([
    { name: 'plain', transportType: 'HTTP', url: 'https://a.example/mcp', headers: {} },
    { name: 'typed', transportType: 'HTTP', url: 'https://b.example/', headers: { 'X-Key': 'k' } },
    { name: 'streamable', transportType: 'HTTP', url: 'https://c.example/sse', headers: {} },
    { name: 'events', transportType: 'SSE', url: 'https://d.example/events', headers: {} },
    { name: 'guessed', transportType: 'SSE', url: 'https://e.example/sse', headers: {} },
  ]);
});

it('[REG-6] reads `servers` if there is no `mcpServers`', () => {
  expect(parse({ servers: { a: { url: 'http://127.0.0.1:1/mcp' } } }).servers).toHaveLength(1);
});

it('[REG-6] leaves out servers without a reachable URL, and says why', () => {
  const { servers, skipped } = parse({
    mcpServers: {
      stdio: { command: 'npx', args: ['-y', 'x'] },
      off: { url: 'https://a.example/mcp', disabled: true },
      odd: { url: 'https://a.example/mcp', type: 'pigeon' },
      broken: { url: 'not a url' },
      headers: { url: 'https://a.example/mcp', headers: { a: {} } },
      text: 'https://a.example/mcp',
      typo: { comand: 'npx' },
    },
  });
  expect(servers).toEqual([]);
  expect(skipped.map(({ name, reason }) => `${name} ${reason}`)).toEqual([
    'stdio is a program: `portico connect` offers it',
    'off is disabled in the file',
    'odd is not valid: mcpServers.odd.type is not a transport; use "http", "sse" or "stdio"',
    'broken has no valid url',
    'headers is not valid: mcpServers.headers.headers.a is not a string',
    'text is not valid: mcpServers.text is not an object',
    'typo is not valid: mcpServers.typo has no command and no url',
  ]);
});

it('[REG-6] [CLI-3] fills in variables that are set; another may be a secret of the gateway', () => {
  const url = 'https://a.example/${PLACE:-mcp}';
  const headers = {
    Authorization: 'Bearer ${env:TOKEN}',
    'X-Odd': '${ODD}',
    'X-Secret': '${HUB_TOKEN}',
  };
  const there = { url: 'https://${NOWHERE}/mcp' };
  const read = parse({ mcpServers: { a: { url, headers }, there } }, { TOKEN: 't', ODD: 'a${b' });
  expect(read.servers).toMatchObject([
    {
      url: 'https://a.example/mcp',
      headers: { Authorization: 'Bearer t', 'X-Odd': 'a$${b', 'X-Secret': '${HUB_TOKEN}' },
    },
  ]);
  expect(read.skipped).toEqual([{ name: 'there', reason: 'needs NOWHERE, which is not set' }]);
});

it('[REG-6] [SEC-1] fills in parts of a header, and nothing that is empty, escaped or the gateway’s own', () => {
  const headers = {
    'X-Both': '${SET} ${HUB_TOKEN}',
    'X-Empty': '${EMPTY}',
    'X-Default': '${EMPTY:-d}',
    'X-Escaped': '$${SET}',
    'X-Own': '${PORTICO_ADMIN_TOKEN}',
    'X-Client': '${PORTICO_CLIENT_TOKEN}',
  };
  const own = { url: 'https://a.example/${PORTICO_KEYS}' };
  const env = {
    SET: 's',
    EMPTY: '',
    PORTICO_ADMIN_TOKEN: 'a',
    PORTICO_KEYS: 'k',
    PORTICO_CLIENT_TOKEN: 'c',
  };
  const read = parse({ mcpServers: { a: { url: 'https://a.example/mcp', headers }, own } }, env);
  expect(read.servers.map(server => server.headers)).toEqual([
    {
      'X-Both': 's ${HUB_TOKEN}',
      'X-Empty': '${EMPTY}',
      'X-Default': 'd',
      'X-Escaped': '$${SET}',
      'X-Own': '${PORTICO_ADMIN_TOKEN}',
      'X-Client': 'c',
    },
  ]);
  expect(read.skipped).toEqual([{ name: 'own', reason: 'needs PORTICO_KEYS, which is not set' }]);
});

it('[REG-6] takes what a client would ask for as a secret of the gateway, as an import does', () => {
  const headers = {
    'X-Both': '${SET} ${input:github-token}',
    'X-Input': 'Bearer ${input:github-token}',
    'X-Lower': '${env:api_key}',
    'X-Braces': '{env:API_KEY}',
    'X-Secret': '${{ secrets.API_KEY }}',
  };
  const odd = { url: 'https://a.example/mcp', headers: { 'X-Odd': '${input:}' } };
  const file = { mcpServers: { a: { url: 'https://a.example/mcp', headers }, odd } };
  const { servers, skipped } = parse(file, { SET: 's' });
  expect(servers.map(server => server.headers)).toEqual([
    {
      'X-Both': 's ${GITHUB_TOKEN}',
      'X-Input': 'Bearer ${GITHUB_TOKEN}',
      'X-Lower': '${API_KEY}',
      'X-Braces': '${API_KEY}',
      'X-Secret': '${API_KEY}',
    },
  ]);
  const reason = 'has a header X-Odd that has a placeholder that only its client can fill';
  expect(skipped).toEqual([{ name: 'odd', reason }]);
});

it.each(['${A}${HUB}', '${A}{HUB}', '${A}${B}'])(
  '[REG-6] [SEC-1] makes no reference and no escape of a value that ends in $: %s',
  text => {
    const file = { mcpServers: { a: { url: 'https://a.example/mcp', headers: { key: text } } } };
    const { servers, skipped } = parse(file, { A: 'x$', B: '{HUB}' });
    const reason =
      'has a header key that cannot be filled in: the value of A ends in $ before another';
    expect([servers, skipped]).toEqual([[], [{ name: 'a', reason }]]);
    const headers = { ends: '${A}', escape: '${A}$${HUB}', text: '${A}$' };
    const good = { mcpServers: { a: { url: 'https://a.example/mcp', headers } } };
    const filled = { ends: 'x$', escape: 'x$$${HUB}', text: 'x$$' };
    expect(parse(good, { A: 'x$' }).servers).toMatchObject([{ headers: filled }]);
  },
);

it.each([
  ['{', 'mcp.json is not valid JSON (line 1, column 2).'],
  ['{ // mine\n "a": "s3cret"\n "b": 2 }', 'mcp.json is not valid JSON (line 3, column 2).'],
  ['[]', 'mcp.json has no "mcpServers" and no "servers" object.'],
  ['null', 'mcp.json has no "mcpServers" and no "servers" object.'],
])('[REG-6] refuses the file %s in one line', (text, line) => {
  expect(() => parseServerConfig(text, 'mcp.json', {})).toThrow(line);
});
