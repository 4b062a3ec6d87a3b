/** Client authentication: exactly one of four methods, and the right error for everything else. */
import { describe, expect, it } from 'vitest';
import {
  ASSERTION_TYPE,
  readClientCredentials,
} from '../../../src/oauth/clients/client-credentials.ts';

const basic = (text: string) => ({ authorization: `Basic ${btoa(text)}` });
const read = (headers: Record<string, string>, form: string) =>
  readClientCredentials(new Headers(headers), new URLSearchParams(form));
const codeOf = (headers: Record<string, string>, form: string) => {
  try {
    return read(headers, form);
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const jwt = `client_assertion_type=${encodeURIComponent(ASSERTION_TYPE)}&client_assertion=a.b.c`;

describe('client authentication', () => {
  it.each<[Record<string, string>, string, object]>([
    [{}, 'client_id=c', { method: 'none', clientId: 'c' }],
    [{}, 'client_id=c&client_secret=', { method: 'none', clientId: 'c' }],
    [{ authorization: 'Bearer x' }, 'client_id=c', { method: 'none', clientId: 'c' }],
    [
      {},
      'client_id=c&client_secret=s%2B',
      { method: 'client_secret_post', clientId: 'c', secret: 's+' },
    ],
    [basic('c:s'), '', { method: 'client_secret_basic', clientId: 'c', secret: 's' }],
    [basic('c:s'), 'client_id=c', { method: 'client_secret_basic', clientId: 'c', secret: 's' }],
    [
      { authorization: `bASIC ${btoa('a%3Ab+c:s%20%2B:x')}` },
      '',
      { method: 'client_secret_basic', clientId: 'a:b c', secret: 's +:x' },
    ],
    [{}, jwt, { method: 'private_key_jwt', clientId: undefined, assertion: 'a.b.c' }],
    [{}, `${jwt}&client_id=c`, { method: 'private_key_jwt', clientId: 'c', assertion: 'a.b.c' }],
  ])('[ACC-5] %j with %s is %j', (headers, form, shown) => {
    expect(read(headers, form)).toEqual(shown);
  });

  it.each<[Record<string, string>, string, string]>([
    [{}, '', 'invalid_client'],
    [{}, 'client_secret=s', 'invalid_client'],
    [{}, 'client_id=c&client_id=c', 'invalid_request'],
    [{}, 'client_id=c&client_secret=s&client_secret=s', 'invalid_request'],
    [basic('c:s'), 'client_id=d', 'invalid_request'],
    [basic('c:s'), 'client_secret=s', 'invalid_request'],
    [basic('c:s'), jwt, 'invalid_request'],
    [{}, `${jwt}&client_secret=s`, 'invalid_request'],
    [{}, `client_assertion_type=x&client_secret=s`, 'invalid_request'],
    [{}, 'client_id=c&client_assertion=a.b.c', 'invalid_client'],
    [
      {},
      `client_id=c&client_assertion_type=${encodeURIComponent(ASSERTION_TYPE)}`,
      'invalid_client',
    ],
    [{}, 'client_assertion=a.b.c&client_assertion_type=other', 'invalid_client'],
    [basic('c'), '', 'invalid_client'],
    [basic('c:'), '', 'invalid_client'],
    [basic(':s'), '', 'invalid_client'],
    [basic('c:%'), '', 'invalid_client'],
    [basic('c:\u00ff'), '', 'invalid_client'],
    [{ authorization: 'Basic !' }, '', 'invalid_client'],
    [{ authorization: 'Basic ' }, 'client_id=c', 'none'],
    [basic(`c:${'s'.repeat(5_000)}`), '', 'invalid_client'],
  ])('[ACC-5] %j with %s is %s', (headers, form, code) => {
    const shown = codeOf(headers, form);
    expect(typeof shown === 'string' ? shown : shown.method).toBe(code);
  });
});
