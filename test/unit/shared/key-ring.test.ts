/** The key ring and what is sealed with it: opened with the right key and binding, and with nothing else. */
import { describe, expect, it } from 'vitest';
import { fromBase64Url, toBase64Url } from '../../../src/shared/crypto/base64url.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import {
  openAuth,
  openHeaders,
  sealCredential,
} from '../../../src/credentials/sealed-credential.ts';
import { SealedIds } from '../../../src/access/admission/sealed-id.ts';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const ringOf = (active: string, keys: Record<string, string>) =>
  createKeyRing(JSON.stringify({ active, keys }));
const ring = ringOf('k1', { k1: key(1) });

describe('createKeyRing', () => {
  it.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['no JSON', 'k1'],
    ['null', 'null'],
    ['an array', '[]'],
    ['no active key', JSON.stringify({ keys: { k1: key(1) } })],
    ['an active key that is not there', JSON.stringify({ active: 'k2', keys: { k1: key(1) } })],
    ['an active key of the prototype', '{"active":"constructor","keys":{}}'],
    [
      'a key that is too short',
      JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(16).toString('base64') } }),
    ],
    [
      'a key that is too long',
      JSON.stringify({ active: 'k1', keys: { k1: Buffer.alloc(33).toString('base64') } }),
    ],
    ['a key that is not Base64', JSON.stringify({ active: 'k1', keys: { k1: '*'.repeat(44) } })],
    ['an id with a dot', JSON.stringify({ active: 'a.b', keys: { 'a.b': key(1) } })],
    ['a member nobody knows', JSON.stringify({ active: 'k1', keys: { k1: key(1) }, more: 1 })],
  ])('[SEC-1] refuses %s and does not show it', (_what, secret) => {
    expect(() => createKeyRing(secret)).toThrow(/^PORTICO_KEYS (is missing|must be)/);
    expect(() => createKeyRing(secret)).not.toThrow(key(1));
  });
});

describe('seal and open', () => {
  it('[SEC-1] opens what it sealed', async () => {
    for (const plain of ['', 'a', '\u00e9\u4e16\ud83d\ude00', 'x'.repeat(100_000)]) {
      const sealed = await ring.seal('credential', plain, 'row');
      expect(await ring.open('credential', sealed, 'row')).toBe(plain);
    }
  });

  it('[SEC-1] reveals nothing of the text and never seals the same way twice', async () => {
    const first = await ring.seal('credential', 'Bearer canary', 'row');
    const second = await ring.seal('credential', 'Bearer canary', 'row');
    expect(first).not.toBe(second);
    expect(Buffer.from(first.slice(3), 'base64url').toString('latin1')).not.toContain('canary');
  });

  it('[SEC-1] seals equal texts alike on request', async () => {
    const sealed = await ring.sealAlike('task', 'text', 'row');
    expect(await ring.sealAlike('task', 'text', 'row')).toBe(sealed);
    expect(await ring.open('task', sealed, 'row')).toBe('text');
    expect(await ring.open('task', sealed, 'ro')).toBeUndefined();
    const others = await Promise.all([
      ring.sealAlike('task', 'text', 'ro'),
      ring.sealAlike('task', 'wtext', 'ro'),
      ring.sealAlike('task', 'other', 'row'),
      ring.sealAlike('state', 'text', 'row'),
    ]);
    const nonces = [sealed, ...others].map(text => text.slice(3, 3 + 16));
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it('[SEC-1] does not open with another key, binding or purpose', async () => {
    const sealed = await ring.seal('credential', 'text', 'row');
    expect(await ringOf('k1', { k1: key(2) }).open('credential', sealed, 'row')).toBeUndefined();
    expect(await ringOf('k2', { k2: key(1) }).open('credential', sealed, 'row')).toBeUndefined();
    expect(await ring.open('credential', sealed, 'other row')).toBeUndefined();
    expect(await ring.open('credential', sealed, '')).toBeUndefined();
    expect(await ring.open('session', sealed, 'row')).toBeUndefined();
  });

  it('[SEC-1] does not open a text under the id of another key of the ring', async () => {
    const same = ringOf('k1', { k1: key(1), k2: key(1) });
    const sealed = await same.seal('credential', 'text', 'row');
    expect(await same.open('credential', sealed.replace(/^k1/, 'k2'), 'row')).toBeUndefined();
  });

  it('[SEC-1] does not open a text with any one bit flipped', async () => {
    const sealed = await ring.seal('credential', 'text', 'row');
    const bytes = fromBase64Url(sealed.slice(3)) ?? new Uint8Array();
    expect(bytes.length).toBeGreaterThan(28);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const flipped = Uint8Array.from(bytes, (byte, i) =>
        i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte,
      );
      expect([
        `bit ${bit}`,
        await ring.open('credential', `k1.${toBase64Url(flipped)}`, 'row'),
      ]).toEqual([`bit ${bit}`, undefined]);
    }
  });

  it.each([
    '',
    '.',
    'k1',
    'k1.',
    'k1.AAAA',
    'k1.***',
    '.AAAA',
    'k9.AAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    '__proto__.AAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    'toString.AAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  ])('[SEC-1] opens nothing of %j', async sealed => {
    expect(await ring.open('credential', sealed, 'row')).toBeUndefined();
  });

  it('[SEC-1] rotates: the old key opens, the new one seals, a removed one opens nothing', async () => {
    const old = ringOf('k1', { k1: key(1) });
    const both = ringOf('k2', { k1: key(1), k2: key(2) });
    const fresh = ringOf('k2', { k2: key(2) });
    const before = await old.seal('credential', 'text', 'row');
    expect(await both.open('credential', before, 'row')).toBe('text');
    const after = await both.seal('credential', 'text', 'row');
    expect(after).toMatch(/^k2\./);
    expect(await fresh.open('credential', after, 'row')).toBe('text');
    expect(await fresh.open('credential', before, 'row')).toBeUndefined();
    expect(await old.open('credential', after, 'row')).toBeUndefined();
  });
});

describe('hmacs', () => {
  it('[ACC-1] has one for each key, the active one first', async () => {
    const both = ringOf('k2', { k1: key(1), k2: key(2) });
    const [first] = await ring.hmacs('token', 'text');
    const [active, former, ...more] = await both.hmacs('token', 'text');
    expect(former).toBe(first);
    expect(active).not.toBe(first);
    expect(more).toEqual([]);
  });

  it('[ACC-1] depends on purpose and text, and is not the bare hash', async () => {
    const [hmac = ''] = await ring.hmacs('token', 'text');
    expect(hmac).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await ring.hmacs('token', 'text')).toEqual([hmac]);
    expect(await ring.hmacs('token', 'texu')).not.toEqual([hmac]);
    expect(await ring.hmacs('session', 'text')).not.toEqual([hmac]);
    const bare = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('text'));
    expect(toBase64Url(new Uint8Array(bare))).not.toBe(hmac);
  });
});

describe('sealed credentials', () => {
  const owner = { id: 'server-1', url: 'https://a.example.com/mcp' };
  const headers = { Authorization: 'Bearer canary', 'X-Key': 'k' };

  it('[SEC-1] [UP-4] come back unchanged, on every path of the origin', async () => {
    const sealed = await sealCredential(ring, owner, 'headers', headers);
    expect(await openHeaders(ring, owner, sealed)).toEqual(headers);
    const elsewhere = { ...owner, url: 'https://a.example.com/other' };
    expect(await openHeaders(ring, elsewhere, sealed)).toEqual(headers);
  });

  it.each([
    ['another server', 'server-2', owner.url],
    ['another host', 'server-1', 'https://b.example.com/mcp'],
    ['another port', 'server-1', 'https://a.example.com:8443/mcp'],
    ['another scheme', 'server-1', 'http://a.example.com/mcp'],
  ])('[SEC-1] do not open for %s', async (_what, id, url) => {
    const sealed = await sealCredential(ring, owner, 'headers', headers);
    expect(await openHeaders(ring, { id, url }, sealed)).toBeUndefined();
  });

  it('[SEC-1] do not open as another field of the same server', async () => {
    const auth = { type: 'bearer', token: 'canary' } as const;
    const sealed = await sealCredential(ring, owner, 'auth', auth);
    expect(await openAuth(ring, owner, sealed)).toEqual(auth);
    expect(await openHeaders(ring, owner, sealed)).toBeUndefined();
  });
});

describe('sealed session ids', () => {
  it('[MCP-10] are opened by every isolate of the deployment', async () => {
    const { facts, sealed } = await new SealedIds(ring).create('principal-1', '2025-11-25');
    expect(sealed).toMatch(/^[\x21-\x7e]+$/);
    expect(await new SealedIds(ringOf('k1', { k1: key(1) })).open(sealed)).toEqual(facts);
  });

  it('[MCP-10] hold 128 random bits', async () => {
    const ids = new SealedIds(ring);
    const made = await Promise.all(
      Array.from({ length: 500 }, () => ids.create('p', '2025-11-25')),
    );
    expect(new Set(made.map(({ facts }) => facts.id)).size).toBe(500);
    for (const { facts } of made) expect(fromBase64Url(facts.id)).toHaveLength(16);
  });

  it('[MCP-10] are refused if they were made elsewhere', async () => {
    const ids = new SealedIds(ring);
    const { sealed } = await ids.create('p', '2025-11-25');
    const credential = await ring.seal(
      'credential',
      '{"id":"a","principalId":"b","protocolVersion":"c"}',
      'session-id',
    );
    const foreign = await new SealedIds(ringOf('k1', { k1: key(2) })).create('p', '2025-11-25');
    const forged = [
      '',
      'x',
      crypto.randomUUID(),
      `${sealed}A`,
      sealed.slice(0, -1),
      sealed.toLowerCase(),
      credential,
      foreign.sealed,
    ];
    for (const id of [...forged, 'k1.'.padEnd(10_000, 'A')])
      expect([id.slice(0, 60), await ids.open(id)]).toEqual([id.slice(0, 60), undefined]);
  });
});
