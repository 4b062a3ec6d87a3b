/** The table of word pieces: as shipped, as packed, and malformed. */
import { describe, expect, it } from 'vitest';

import { packEmbedding } from '../../../bench/retrieval/pack-embedding.ts';
import { readEmbedding } from '../../../src/search/text/embedding.ts';
import { hashText, toTerms } from '../../../src/search/text/terms.ts';
import { EMBEDDING, readTable } from './made.ts';

function cosine(a: string, b: string): number {
  const other = EMBEDDING.embed(b);
  return EMBEDDING.embed(a).reduce((sum, value, i) => sum + value * (other[i] ?? 0), 0);
}

describe('the shipped table', () => {
  it('[FIND-1] is small, and makes unit vectors', () => {
    expect(readTable().byteLength).toBeLessThan(4_700_000);
    for (const text of ['send an email', 'x', 'getHTTPServer', 'weather '.repeat(900)]) {
      expect(cosine(text, text)).toBeCloseTo(1, 4);
    }
  });

  it('[FIND-1] places similar meanings near each other', () => {
    expect(cosine('send an email', 'mail a message')).toBeGreaterThan(0.6);
    expect(cosine('will it rain', 'weather forecast')).toBeGreaterThan(0.4);
    expect(cosine('send an email', 'kubernetes pod logs')).toBeLessThan(0.3);
  });

  it.each(['', 'the of and', '東京都', '\u200b\u202e', '😀'])(
    '[FIND-1] gives the zero vector for %j',
    text => {
      expect(EMBEDDING.embed(text).every(value => value === 0)).toBe(true);
    },
  );

  it('[FIND-1] ranks everyday words below rare ones, and unknown words as the rarest', () => {
    const rarities = ['time', 'weather', 'kubernetes'].map(word => EMBEDDING.rarityOf(word));
    expect(rarities).toEqual(rarities.toSorted((a, b) => a - b));
    expect(EMBEDDING.rarityOf('time')).toBeLessThan(0.2);
    expect(EMBEDDING.rarityOf('zzyzxq')).toBe(1);
  });

  it('[FIND-1] gives later words less weight, and counts a word three times at most', () => {
    const near = (text: string, rest?: string) =>
      EMBEDDING.embed(text, rest).reduce(
        (sum, value, i) => sum + value * (EMBEDDING.embed('weather')[i] ?? 0),
        0,
      );
    expect(near('weather', 'invoice')).toBeGreaterThan(near('weather invoice'));
    expect(near('invoice', 'weather')).toBeLessThan(near('weather invoice'));
    expect(EMBEDDING.embed('mail mail mail', 'mail mail')).toEqual(
      EMBEDDING.embed('mail mail mail'),
    );
    expect(EMBEDDING.embed('mail', '')).toEqual(EMBEDDING.embed('mail'));
  });

  it('[FIND-1] has neighbours whose terms match the current stemmer', () => {
    const terms = EMBEDDING.neighboursOf('mail').map(({ term }) => term);
    expect(terms).toContain(hashText(toTerms('emails', 50)[0] ?? ''));
    expect(EMBEDDING.neighboursOf('mail').length).toBeLessThanOrEqual(16);
    const similarities = EMBEDDING.neighboursOf('mail').map(({ similarity }) => similarity);
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a));
    expect(EMBEDDING.neighboursOf('zzyzxq')).toEqual([]);
  });
});

describe('packing and reading', () => {
  const pieces = ['cat', 'kitten', 'car', '##s', 'c'];
  const rows = Int8Array.from(
    [
      [127, 0, 0, 0],
      [120, 30, 0, 0],
      [0, 0, 127, 0],
      [0, 0, 0, 9],
      [5, 5, 5, 5],
    ].flat(),
  );
  const pack = () => new Uint8Array(packEmbedding(pieces, Float32Array.of(1, 1, 1, 1, 1), rows));

  it('[FIND-1] finds the longest piece first and adds up the pieces of a word', () => {
    const embedding = readEmbedding(pack().buffer);
    expect([...embedding.embed('car')]).toEqual([0, 0, 1, 0]);
    expect(embedding.embed('cars')[3]).toBeGreaterThan(0);
    expect([...embedding.embed('dog')]).toEqual([0, 0, 0, 0]);
    expect(embedding.neighboursOf('cat').map(({ term }) => term)).toEqual([hashText('kitten')]);
  });

  it('[FIND-1] refuses a file that is truncated, too long, of another version or empty', () => {
    const bytes = pack();
    const other = Uint8Array.from(bytes);
    other[4] = 99;
    for (const broken of [
      bytes.slice(0, -1),
      new Uint8Array([...bytes, 0]),
      other,
      new Uint8Array(),
    ]) {
      expect(() => readEmbedding(broken.buffer)).toThrow('malformed');
    }
  });

  it('[FIND-1] refuses pieces and vectors that do not belong together', () => {
    expect(() => packEmbedding(['a', 'b'], Float32Array.of(1), rows)).toThrow('belong together');
    expect(() => packEmbedding(['a', 'a'], Float32Array.of(1, 1), new Int8Array(8))).toThrow(
      'hash',
    );
  });
});
