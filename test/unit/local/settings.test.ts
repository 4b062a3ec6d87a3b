/** Settings from an environment, as a start and a deployment read them. */
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../local/settings.ts';
import { parseConfig, SETTING_NAMES } from '../../../src/config.ts';

const config = (env: Record<string, string>) => () => parseConfig(env);

describe('a start', () => {
  it('[OPS-3] passes on the settings of the Worker and nothing else', () => {
    const taken = readSettings({
      PATH: '/bin',
      PORTICO_TOKEN: 'x',
      PORTICO_CLIENT_TOKEN: 'x',
      PORTICO_URL: 'http://127.0.0.1:1',
      PORTICO_ADMIN_TOKEN: 'x',
      PORTICO_TRACE_DIR: 'off',
      PORTICO_PAGE_SIZE: '10',
      PORTICO_TOOLS: undefined,
    });
    expect(taken).toEqual({ PORTICO_PAGE_SIZE: '10' });
  });

  it.each([
    ['PORTICO_POSTUR', 'closed', 'did you mean PORTICO_POSTURE?'],
    ['PORTICO_RATE_LIMITS', '5', 'did you mean PORTICO_RATE_LIMIT?'],
    ['portico_posture', 'closed', 'did you mean PORTICO_POSTURE?'],
    ['PORTICO_TRACEDIR', 'off', 'did you mean PORTICO_TRACE_DIR?'],
    ['PORTICO_COLOUR_OF_THE_HOUSE', 'red', 'docs/operations.md lists the settings'],
  ])('[SEC-4] refuses the unknown setting %s', (name, value, advice) => {
    expect(() => readSettings({ [name]: value })).toThrow(
      `Setting ${name} is not known; ${advice}`,
    );
  });

  it('[OPS-5] [SEC-4] takes the variables of a gateway for a team only with its address', () => {
    const here = { PORTICO_HOST: '127.0.0.1', PORTICO_TRUSTED_PROXIES: '', PORTICO_PUBLIC_URL: '' };
    expect(readSettings(here)).toEqual({});
    expect(readSettings({ PORTICO_HOST: 'localhost' })).toEqual({});
    for (const [name, value] of [
      ['PORTICO_HOST', '0.0.0.0'],
      ['PORTICO_TRUSTED_PROXIES', '127.0.0.1'],
      ['PORTICO_ADDRESS_RATE_LIMIT', '5'],
    ] as const) {
      const given = { [name]: value };
      expect(() => readSettings(given)).toThrow(`Setting ${name} needs the address`);
      expect(readSettings(given, 'https://mcp.example.com')).toEqual({
        PORTICO_MODE: 'server',
        PORTICO_PUBLIC_URL: 'https://mcp.example.com',
      });
    }
  });

  it.each([
    ['PORTICO_PAGE_SIZE', 'many'],
    ['PORTICO_POSTURE', 'ajar'],
    ['PORTICO_MODEL_URL', 'no address'],
    // A backup would lack the calls of the last seconds.
    ['PORTICO_AUDIT_GATHER_MS', '1001'],
  ])('[SEC-4] names %s if its value is invalid', (name, value) => {
    expect(() => readSettings({ [name]: value })).toThrow(name);
  });
});

describe('a deployment', () => {
  it('[SEC-4] knows each of its settings', () => {
    for (const name of SETTING_NAMES) expect(name).toMatch(/^PORTICO_[A-Z_]+$/);
    expect(new Set(SETTING_NAMES).size).toBe(SETTING_NAMES.length);
    expect(config({ PORTICO_KEYS: '{}', PORTICO_ADMIN_TOKEN: 'x' })).not.toThrow();
  });

  it('[SEC-4] refuses a misspelt setting', () => {
    expect(config({ PORTICO_POSTUR: 'closed' })).toThrow('did you mean PORTICO_POSTURE?');
    expect(config({ PORTICO_RATELIMIT: '5' })).toThrow('did you mean PORTICO_RATE_LIMIT?');
  });

  it.each(['PORTICO_AUDIT_DAYS', 'PORTICO_RATE_LIMIT', 'PORTICO_TRACE_RATIO'])(
    '[SEC-4] takes an empty %s for no number',
    name => {
      for (const empty of ['', ' ']) {
        expect(config({ [name]: empty })).toThrow(`Setting ${name}: must be a number`);
      }
      expect(config({ [name]: '0' })).not.toThrow();
    },
  );

  it('[SEC-4] ignores bindings, and settings that a newer version may know', () => {
    expect(config({ PORTICO_COLOUR_OF_THE_HOUSE: 'red', POSTURE: 'x' })).not.toThrow();
  });
});
