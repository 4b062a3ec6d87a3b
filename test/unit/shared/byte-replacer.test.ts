/** Secrets replaced in bytes that arrive in chunks: the same result as for the whole, and nothing is held back needlessly. */
import { describe, expect, it } from 'vitest';
import {
  ByteReplacer,
  replaceText,
  toNeedle,
} from '../../../src/shared/redaction/byte-replacer.ts';
import { leastCostOf, repeated } from '../hostile-texts.ts';
import { createRandom, SEED } from '../seeded.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (pieces: readonly Uint8Array[]) =>
  Buffer.concat(pieces.map(piece => Buffer.from(piece))).toString();

/** The output for these chunks, one after the other. */
function filterCatalog(pieces: readonly string[], secrets: readonly string[]): string[] {
  const replacer = new ByteReplacer(secrets.map(secret => toNeedle(secret, '#')));
  const given = pieces.map(piece => textOf(replacer.push(bytesOf(piece))));
  return [...given, textOf(replacer.end())];
}

/** The same, implemented naively: each connected region covered by occurrences becomes one mark. */
function slowly(text: string, secrets: readonly string[]): string {
  const covered = Array.from({ length: text.length }, () => -1);
  const found = secrets.flatMap(secret =>
    Array.from({ length: text.length }, (_, at) => at)
      .filter(at => text.startsWith(secret, at))
      .map(at => [at, at + secret.length] as const),
  );
  let part = 0;
  let done = 0;
  for (const [start, end] of found.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (start >= done) part += 1;
    for (let at = Math.max(start, done); at < end; at += 1) covered[at] = part;
    done = Math.max(done, end);
  }
  return Array.from(text, (character, at) => {
    if (covered[at] === -1) return character;
    return covered[at] === covered[at - 1] ? '' : '#';
  }).join('');
}

describe('a replacer of bytes', () => {
  it('[SEC-2] emits at once what no secret begins with, and holds back what one may', () => {
    expect(
      filterCatalog(['data: {}\n\n', 'a sec', 'ond', ' sec', 'ret-1', '2 x'], ['secret-12']),
    ).toEqual(['data: {}\n\n', 'a ', 'second', ' ', '', '# x', '']);
    expect(filterCatalog(['ends in secr'], ['secret-12'])).toEqual(['ends in ', 'secr']);
    expect(filterCatalog(['', 'secret-1', '', '2'], ['secret-12'])).toEqual(['', '', '', '#', '']);
  });

  it(`[SEC-2] finds in chunks of any size what is in the whole (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 3_000; round += 1) {
      const letters = random.pick(['a', 'ab', 'abc', 'abcdefgh']);
      const word = (most: number) =>
        Array.from({ length: 1 + random.below(most) }, () => random.pick([...letters])).join('');
      const secrets = Array.from({ length: 1 + random.below(3) }, () => word(6));
      const text = Array.from({ length: random.below(8) }, () =>
        random.chance(0.5) ? random.pick(secrets) : word(9),
      ).join('');
      const pieces: string[] = [];
      for (let at = 0; at < text.length;) {
        const size = 1 + random.below(random.pick([1, 4, 40]));
        pieces.push(text.slice(at, at + size));
        at += size;
      }
      const wanted = slowly(text, secrets);
      expect([text, secrets, filterCatalog(pieces, secrets).join('')]).toEqual([
        text,
        secrets,
        wanted,
      ]);
      expect(
        replaceText(
          text,
          secrets.map(secret => toNeedle(secret, '#')),
        ),
      ).toBe(wanted);
    }
  });

  it('[MCP-7] emits the very same bytes if there is nothing to replace', () => {
    const piece = Uint8Array.from({ length: 1_000 }, (_, at) => at % 256);
    const replacer = new ByteReplacer([toNeedle('secret-12', '#')]);
    expect(replacer.push(piece)).toEqual([piece]);
    expect(replacer.push(piece)[0]).toBe(piece);
  });

  it('[SEC-4] never holds more than a secret', () => {
    const secret = 'ab'.repeat(50);
    const replacer = new ByteReplacer([toNeedle(secret, '#'), toNeedle('b'.repeat(80), '#')]);
    let out = 0;
    const text = repeated('ab', 10_000) + repeated('b', 10_000) + repeated('ab', 999);
    for (const [at, byte] of bytesOf(text).entries()) {
      out += replacer.push(Uint8Array.of(byte)).length;
      expect(out === 0 ? at : 0).toBeLessThan(secret.length);
    }
  });

  it.each([
    ['the secret again and again', 'ab', 'ab'],
    ['all but its first byte', 'a', 'b', 'a'],
    ['all but its last byte', 'a', 'a', 'b'],
    ['half of it', 'aab', 'aab', 'c'],
  ])('[SEC-4] takes linear time: %s', (_what, filling, begin, end = '') => {
    const secret = `${begin}${repeated(filling, 8_000)}${end}`;
    const needles = [toNeedle(secret, '#')];
    const text = bytesOf(repeated(filling, 1_048_576));
    const work = () => {
      const replacer = new ByteReplacer(needles);
      for (let at = 0; at < text.length; at += 65_536)
        replacer.push(text.subarray(at, at + 65_536));
      replacer.end();
    };
    // Without a bound the cost is eight thousand times as much.
    expect(leastCostOf(work, 100)).toBeLessThan(300);
  });
});
