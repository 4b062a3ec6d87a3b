/** Errors of a server never show the credential, however it is written. */
import { expect, it } from 'vitest';
import { type RawResponse, withoutSecrets } from '../../../src/upstream/protocol/message.ts';

const errorOf = (error: string): RawResponse => ({
  kind: 'response',
  error,
  parsed: JSON.parse(error) as Record<string, unknown>,
});

it.each([
  ['as it is', '{"code":1,"message":"no: secret-4711"}'],
  ['with escapes', '{"code":1,"message":"no: \\u0073ecret\\u002d4711"}'],
  ['in data', '{"code":1,"message":"no","data":{"a":["x secret-4711 y"]}}'],
  ['as a key', '{"code":1,"message":"no","data":{"secret-4711":1}}'],
  ['with its scheme', '{"code":1,"message":"Bearer secret-4711"}'],
])('[SEC-2] a secret that is repeated %s is removed from text and parsed form', (_how, error) => {
  const safe = withoutSecrets(errorOf(error), ['Bearer secret-4711', 'secret-4711']);
  const text = JSON.stringify(safe);
  expect(text).not.toContain('4711');
  expect(text).toContain('[redacted]');
  expect(safe).toMatchObject({ parsed: JSON.parse((safe as { error: string }).error) as object });
});

it('[SEC-2] [MCP-7] an error without one, and every result, is unchanged', () => {
  const error = errorOf('{"code": 1,  "message":"\\u0061 sec", "data":1.0e5}');
  expect(withoutSecrets(error, ['secret-4711', 'sec', ''])).toBe(error);
  const result: RawResponse = { kind: 'response', result: '{"a":"secret-4711"}', parsed: {} };
  expect(withoutSecrets(result, ['secret-4711'])).toBe(result);
});
