/** Secrets of a program's environment are masked in what it sends. */
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../cli/src/connect/config.ts';
import {
  HiddenValues,
  hiddenIn,
  holdsSecret,
  passwordsIn,
} from '../../../cli/src/connect/hidden-values.ts';

const SECRET = 'sk/live+"7f3a\\91';

describe('[SEC-2] [CLI-1] a variable', () => {
  it.each([
    ['GITHUB_TOKEN', true],
    ['OPENAI_API_KEY', true],
    ['TAVILY_KEY', true],
    ['SECRET', true],
    ['DB_PASSWORD', true],
    ['DB_PASS', true],
    ['github_pat', true],
    ['PATH', false],
    ['NODE_ENV', false],
    ['MONKEY', false],
    ['TOKEN_URL', false],
    ['SSH_KEY_FILE', false],
    ['MAX_TOKENS', false],
  ])('%s holds a secret: %s', (name, expected) => {
    expect(holdsSecret(name)).toBe(expected);
  });
});

describe('[SEC-2] [CLI-1] a line', () => {
  it('loses the secret in every JSON form, and nothing else', () => {
    const hidden = new HiddenValues([SECRET]);
    const said = (value: unknown) => `{ "jsonrpc":"2.0",  "result": ${JSON.stringify(value)} }`;
    expect(hidden.without(said({ text: `it is ${SECRET}.` }))).toBe(
      said({ text: 'it is [redacted].' }),
    );
    expect(hidden.without(said({ text: JSON.stringify({ key: SECRET }) }))).toBe(
      said({ text: JSON.stringify({ key: '[redacted]' }) }),
    );
    expect(hidden.without(said({ text: btoa(SECRET) }))).not.toContain(btoa(SECRET).slice(0, 12));
    const numbers = new HiddenValues(['1234567890']);
    expect(numbers.without(said({ pin: 1234567890 }))).toBe(said({ pin: 1111111111 }));
  });

  it('is unchanged without a secret, unusual bytes included', () => {
    const line = `{"jsonrpc":"2.0", "id":1,"result":{"text":"\\u00e9 \u2028 sk\\/live 1.0e+2"}}`;
    expect(new HiddenValues([SECRET]).without(line)).toBe(line);
    expect(new HiddenValues(['short', '']).without('short is short')).toBe('short is short');
  });
});

it('[SEC-2] [CLI-1] values are secret by the name of their variable, in the file or at their origin', () => {
  const file = {
    mcpServers: {
      one: {
        command: 'node',
        args: ['--as', '${LOGIN_TOKEN}', '--home', '${HOME_FOLDER}'],
        env: { API_KEY: 'written-in-the-file', MODE: '${MODE_KEY}', PLAIN: '${HOME_FOLDER}' },
      },
    },
  };
  const env = {
    LOGIN_TOKEN: 'given-in-an-argument',
    HOME_FOLDER: '/srv/of-nobody',
    MODE_KEY: 'put-in-by-reference',
  };
  const [server] = readConfig(JSON.stringify(file), 'mcp.json', env).servers;
  const all = [...hiddenIn(server?.env ?? {}), ...(server?.hidden ?? [])];
  expect(all.toSorted()).toEqual([
    'given-in-an-argument',
    'put-in-by-reference',
    'written-in-the-file',
  ]);
});

it.each([
  ['postgres://user:secret-one@host:5432/db', ['secret-one']],
  ['--dsn=redis://:secret-one@host/0', ['secret-one']],
  ['a mysql://u:one%40two@h/ b mongodb+srv://u:three@h', ['one%40two', 'one@two', 'three']],
  ['amqp://u:one@two@host/x', ['one', 'one@two']],
  ['postgres://u:one/two@host/x', ['one/two']],
  ['postgres://u:one@host/db?mail=a@b', ['one', 'one@host/db?mail=a']],
  ['http://u:%zz@host', ['%zz']],
  ['postgres://user@host:5432/db', []],
  ['postgres://user:@host/db', []],
  ['https://host:8080/path', []],
  ['user:password@host', []],
  ['git@host:path', []],
  ['', []],
])('[SEC-2] [CLI-1] passwords of addresses in %j are %j', (value, passwords) => {
  expect(passwordsIn([value])).toEqual(passwords);
});
