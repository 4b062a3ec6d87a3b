/** JSON output of the command line: it cannot control a terminal, and a program still reads the server's exact values. */
import { describe, expect, it } from 'vitest';
import { showResult } from '../../../cli/src/call/show-result.ts';
import { reportFailure } from '../../../cli/src/failure.ts';
import { toSafeJson } from '../../../cli/src/output/json.ts';
import { hasHidden } from '../../../src/shared/util/visible-text.ts';
import { createRandom, SEED } from '../seeded.ts';

const HOSTILE = [
  '\u001b[2J', '\u009b2J', '\u0085', '\u007f', '\u202egnp', '\u2066\u2069', '\u200b', '\ufeff', '\u2028', '\u00ad',
  '\u{e0041}', '\u061c', '\ud800', '\u3164', '\r', '\t', '\n',
]; // prettier-ignore
const shown = (text: string) => text.replaceAll('\n', '');

describe('JSON for a terminal', () => {
  it.each(HOSTILE)('[CLI-4] [SEC-8] escapes %j, and a program reads the same', text => {
    const value = { [`a${text}`]: [`b${text}c`, text] };
    const json = toSafeJson(JSON.stringify(value, null, 2));
    expect(hasHidden(shown(json))).toBe(false);
    expect(JSON.parse(json)).toEqual(value);
  });

  it('[CLI-4] leaves visible characters unchanged', () => {
    const value = { a: 'Zoë, 中文, ✓, 🎈', n: [1.5, null, true], quoted: '"\\/' };
    expect(toSafeJson(JSON.stringify(value, null, 2))).toBe(JSON.stringify(value, null, 2));
    const raw = '{\r\n\t"n":1.0e5,"u":"\\u00e9\\/"}';
    expect(toSafeJson(raw)).toBe('{ \n "n":1.0e5,"u":"\\u00e9\\/"}');
  });

  it(`[CLI-4] [SEC-8] preserves any text (seed ${SEED})`, () => {
    const random = createRandom();
    for (let round = 0; round < 2_000; round += 1) {
      const codes = Array.from({ length: random.below(30) }, () => random.below(0x3000));
      const value = [String.fromCharCode(...codes)];
      const json = toSafeJson(JSON.stringify(value));
      expect([hasHidden(json), JSON.parse(json)]).toEqual([false, value]);
    }
  });

  it('[CLI-4] [SEC-8] is used for structured content, and failures are escaped too', () => {
    const { text } = showResult({ structuredContent: { a: '\u009b2J\u202e' } }, true);
    expect(hasHidden(shown(text))).toBe(false);
    const written: string[] = [];
    reportFailure(new Error('no \u001b[2J \u202e tool\nhere'), {
      write: said => written.push(said),
    });
    expect(hasHidden(shown(written.join('')))).toBe(false);
  });
});
