/** Envelopes: opened only at their place with a key of the key ring; rotated without changing their contents. */
import { describe, expect, it } from 'vitest';
import { fromBase64Url, toBase64Url } from '../../../src/shared/crypto/base64url.ts';
import {
  envelopePrefix,
  isEnvelope,
  openEnvelope,
  rewrapEnvelope,
  sealEnvelope,
  type Place,
} from '../../../src/shared/crypto/envelope.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { openHeaders, sealCredential } from '../../../src/credentials/sealed-credential.ts';
import { createRandom, SEED } from '../seeded.ts';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const ringOf = (active: string, keys: Record<string, string>) =>
  createKeyRing(JSON.stringify({ active, keys }));
const old = ringOf('k1', { k1: key(1) });
const both = ringOf('k2', { k1: key(1), k2: key(2) });
const fresh = ringOf('k2', { k2: key(2) });
const place: Place = {
  kind: 'server',
  id: 'server-1',
  field: 'headers',
  origin: 'https://a.example.com',
};

describe('an envelope', () => {
  it('[SEC-1] opens at its place, with any contents', async () => {
    for (const plain of ['', 'a', 'a:b.c', '\u00e9\u4e16\ud83d\ude00', 'x'.repeat(100_000)]) {
      expect(await openEnvelope(old, await sealEnvelope(old, plain, place), place)).toBe(plain);
    }
  });

  it('[SEC-1] has its own data key, and reveals nothing of its contents', async () => {
    const texts = await Promise.all(
      Array.from({ length: 200 }, () => sealEnvelope(old, 'canary-77', place)),
    );
    const parts = texts.flatMap(text => text.split(':').slice(1));
    expect(new Set(parts).size).toBe(400);
    for (const text of texts) {
      expect(text.startsWith(envelopePrefix('k1'))).toBe(true);
      const bytes = Buffer.from(text.split(':')[2] ?? '', 'base64url').toString('latin1');
      expect(bytes).not.toContain('canary');
    }
  });

  it.each<[string, Partial<Place>]>([
    ['another kind of record', { kind: 'secret' }],
    ['another row', { id: 'server-2' }],
    ['another field', { field: 'auth' }],
    ['another host', { origin: 'https://b.example.com' }],
    ['another port', { origin: 'https://a.example.com:8443' }],
    ['another scheme', { origin: 'http://a.example.com' }],
    ['a place with the same text differently cut', { id: 'server-1"', field: 'headers' }],
  ])('[SEC-1] does not open for %s, and is not rotated there', async (_what, other) => {
    const sealed = await sealEnvelope(old, 'text', place);
    expect(await openEnvelope(old, sealed, { ...place, ...other })).toBeUndefined();
    expect(await rewrapEnvelope(both, sealed, { ...place, ...other })).toBeUndefined();
  });

  it('[SEC-1] does not open with another key, not even under the same id', async () => {
    const sealed = await sealEnvelope(old, 'text', place);
    expect(await openEnvelope(ringOf('k1', { k1: key(2) }), sealed, place)).toBeUndefined();
    expect(await openEnvelope(fresh, sealed, place)).toBeUndefined();
    const twins = ringOf('k1', { k1: key(1), k2: key(1) });
    expect(await openEnvelope(twins, sealed.replace('1:k1', '1:k2'), place)).toBeUndefined();
  });

  it(`[SEC-1] does not open with any one bit flipped, in either layer (seed ${SEED})`, async () => {
    const sealed = await sealEnvelope(old, 'a secret', place);
    const [, wrapped = '', body = ''] = sealed.split(':');
    const layers: [string, (text: string) => string][] = [
      [wrapped.slice(3), text => `1:k1.${text}:${body}`],
      [body, text => `1:${wrapped}:${text}`],
    ];
    for (const [layer, join] of layers) {
      const bytes = fromBase64Url(layer) ?? new Uint8Array();
      expect(bytes.length).toBeGreaterThan(28);
      expect(await openEnvelope(old, join(toBase64Url(bytes)), place)).toBe('a secret');
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        const flipped = bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        const opened = await openEnvelope(old, join(toBase64Url(flipped)), place);
        expect([`bit ${bit}`, opened]).toEqual([`bit ${bit}`, undefined]);
      }
    }
  });

  it(`[SEC-1] does not open with any one character changed, added or removed (seed ${SEED})`, async () => {
    const random = createRandom();
    const sealed = await sealEnvelope(both, 'a secret', place);
    const alphabet = 'ABCXYZabcxyz0189-_.:+/= \u00e9';
    for (let at = 0; at <= sealed.length; at += 1) {
      const char = random.pick([...alphabet].filter(other => other !== sealed[at]));
      const forms = [
        sealed.slice(0, at) + char + sealed.slice(at + 1),
        sealed.slice(0, at) + char + sealed.slice(at),
        at < sealed.length ? sealed.slice(0, at) + sealed.slice(at + 1) : '',
      ];
      for (const form of forms) {
        expect([at, char, await openEnvelope(both, form, place)]).toEqual([at, char, undefined]);
      }
    }
  });

  it('[SEC-1] does not accept layers of another envelope of the same place', async () => {
    const first = (await sealEnvelope(old, 'first', place)).split(':');
    const second = (await sealEnvelope(old, 'second', place)).split(':');
    const mixed = `1:${first[1]}:${second[2]}`;
    expect(await openEnvelope(old, mixed, place)).toBeUndefined();
    expect(await openEnvelope(old, `1:${first[1]}:${first[1]?.slice(3)}`, place)).toBeUndefined();
  });

  it.each(['', ':', '1', '1:', '1::', '1:k1.:', '2:k1.AAAA:AAAA', 'k1.AAAA', '1:__proto__.AA:AA'])(
    '[SEC-1] that is malformed opens nothing: %j',
    async text => {
      expect(await openEnvelope(both, text, place)).toBeUndefined();
      expect(await rewrapEnvelope(both, text, place)).toBeUndefined();
    },
  );
});

describe('rotation', () => {
  it('[SEC-1] seals the data key again and leaves the contents unchanged', async () => {
    const sealed = await sealEnvelope(old, 'text', place);
    const rotated = (await rewrapEnvelope(both, sealed, place)) ?? '';
    expect(rotated.startsWith(envelopePrefix('k2'))).toBe(true);
    expect(rotated.split(':')[2]).toBe(sealed.split(':')[2]);
    expect(await openEnvelope(fresh, rotated, place)).toBe('text');
    expect(await openEnvelope(old, rotated, place)).toBeUndefined();
    expect(await openEnvelope(fresh, rotated, { ...place, id: 'server-2' })).toBeUndefined();
  });

  it('[SEC-1] does not take over what it cannot open', async () => {
    const sealed = await sealEnvelope(old, 'text', place);
    expect(await rewrapEnvelope(fresh, sealed, place)).toBeUndefined();
    expect(await rewrapEnvelope(both, `${sealed}A`, place)).toBeUndefined();
  });
});

describe('headers from before envelopes existed', () => {
  const owner = { id: 'server-1', url: 'https://a.example.com/mcp' };

  it('[SEC-1] open as before, are not expanded, and belong to one server only', async () => {
    const bound = '1|server-1|https://a.example.com|headers';
    const sealed = await old.seal('credential', '{"X-Key":"te${X}t"}', bound);
    expect(isEnvelope(sealed)).toBe(false);
    expect(await openHeaders(both, owner, sealed)).toEqual({ 'X-Key': 'te$${X}t' });
    expect(await openHeaders(both, { ...owner, id: 'server-2' }, sealed)).toBeUndefined();
    const anew = await sealCredential(old, owner, 'headers', { a: 'b' });
    expect(isEnvelope(anew)).toBe(true);
  });
});
