/** How others reach the gateway: valid combinations of options, and one line for each invalid one. */
import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../../local/options.ts';
import { toPublicText } from '../../../local/public-text.ts';
import { readSettings } from '../../../local/settings.ts';

const URL_OPTION = ['--public-url', 'https://mcp.example.com'];
const parse = (args: string[], environment: Record<string, string> = {}) =>
  parseOptions(args, '/here', '/project/.portico', environment);

const refusal = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe('options for a team', () => {
  it('[OPS-5] listen on the given address, without the demo servers', () => {
    const { demo, team } = parse(['--host', '0.0.0.0', ...URL_OPTION]);
    expect(demo).toBe(false);
    expect(team).toMatchObject({
      host: '0.0.0.0',
      origin: 'https://mcp.example.com',
      isProxyUnnamed: true,
      perMinute: 3_000,
    });
  });

  it('[OPS-5] listen on loopback by default', () => {
    const { team } = parse([...URL_OPTION, '--trusted-proxies', '127.0.0.1']);
    expect(team).toMatchObject({ host: '127.0.0.1', isProxyUnnamed: false });
  });

  it('[OPS-5] may come from the environment, which options override', () => {
    const environment = {
      PORTICO_HOST: '::',
      PORTICO_PUBLIC_URL: 'https://mcp.example.com',
      PORTICO_TRUSTED_PROXIES: '10.0.0.0/8',
      PORTICO_ADDRESS_RATE_LIMIT: '50',
    };
    expect(parse([], environment).team).toMatchObject({ host: '::', perMinute: 50 });
    const { team } = parse(
      ['--host', '10.0.0.5', '--public-url', 'https://b.example'],
      environment,
    );
    expect(team).toMatchObject({ host: '10.0.0.5', origin: 'https://b.example' });
    expect(parse([], { PORTICO_PUBLIC_URL: '', PORTICO_HOST: '' }).team).toBeUndefined();
  });

  it('[OPS-5] may name the loopback address for a single user', () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      expect(parse(['--host', host])).toMatchObject({ demo: true, team: undefined });
    }
  });

  it.each([
    [['--host', '0.0.0.0'], '--host 0.0.0.0 lets others in, so it needs --public-url'],
    [['--host', '0.0.0.0', '--no-demo'], '--public-url https://mcp.example.com'],
    [['--host', '::'], '--host :: lets others in'],
    [['--host', 'mcp.example.com', ...URL_OPTION], '--host must be an address of this machine'],
    [['--host', '', ...URL_OPTION], '--host must be an address'],
    [['--public-url', ''], '--public-url must be https'],
    [['--public-url', 'mcp.example.com'], '--public-url must be https'],
    [['--public-url', 'http://mcp.example.com'], '--public-url must be https'],
    [['--public-url', 'https://mcp.example.com/mcp'], 'a host without a path'],
    [['--trusted-proxies', '10.0.0.1'], '--trusted-proxies needs --public-url'],
    [[...URL_OPTION, '--trusted-proxies', '0.0.0.0/0'], '--trusted-proxies takes addresses'],
  ])('[OPS-5] refuse %j in one line, exit code 2', (args, line) => {
    const error = refusal(() => parse(args));
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(/^.+$/) });
    expect(String(error)).toContain(line);
  });

  it('[OPS-5] refuse an invalid limit', () => {
    const error = refusal(() => parse(URL_OPTION, { PORTICO_ADDRESS_RATE_LIMIT: 'many' }));
    expect(String(error)).toContain('PORTICO_ADDRESS_RATE_LIMIT must be a number');
  });
});

describe('the settings of a start', () => {
  const origin = 'https://mcp.example.com';

  it('[OPS-5] for a team pass the public URL to the Worker', () => {
    const environment = {
      PORTICO_HOST: '0.0.0.0',
      PORTICO_PUBLIC_URL: 'x',
      PORTICO_POSTURE: 'closed',
    };
    expect(readSettings(environment, origin)).toEqual({
      PORTICO_MODE: 'server',
      PORTICO_PUBLIC_URL: origin,
      PORTICO_POSTURE: 'closed',
    });
  });

  it.each(['production', 'server'])(
    '[OPS-5] PORTICO_MODE=%s does not silently become local',
    mode => {
      const error = refusal(() => readSettings({ PORTICO_MODE: mode }));
      expect(error).toMatchObject({ exitCode: 2, message: expect.stringMatching(/^.+$/) });
      expect(String(error)).toContain('--public-url');
      expect(readSettings({ PORTICO_MODE: mode }, origin)).toMatchObject({
        PORTICO_MODE: 'server',
      });
    },
  );

  it('[OPS-5] PORTICO_MODE=local lets nobody else in', () => {
    expect(readSettings({ PORTICO_MODE: 'local' })).toEqual({});
    expect(String(refusal(() => readSettings({ PORTICO_MODE: 'local' }, origin)))).toContain(
      'remove either',
    );
  });
});

it('[OPS-5] [SEC-2] the closing text goes into logs, so it shows no token', () => {
  const text = toPublicText({
    host: '::',
    origin: 'https://mcp.example.com',
    isProxyUnnamed: true,
    port: 8787,
    secretsFile: '/data/secrets.json',
    steps: { style: (_how, shown) => shown },
  });
  expect(text).toContain('https://mcp.example.com/mcp');
  expect(text).toContain('https://mcp.example.com/console');
  expect(text).toContain('http://[::]:8787');
  expect(text).toContain('No proxy is named');
  expect(text).not.toMatch(/portico_[A-Za-z0-9]/);
});
