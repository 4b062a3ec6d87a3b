/** Member names as lenient JSON parsers read them. */
import { describe, expect, it } from 'vitest';
import { DecidedNames, foldName } from '../../../src/mcp/params.ts';
import { leastCostOf } from '../hostile-texts.ts';
import { createRandom, SEED } from '../seeded.ts';

const LAST_CODE_POINT = 0x10_ffff;
const DECIDED = ['_meta', 'name', 'taskId', 'requestState', 'io.modelcontextprotocol/logLevel'];

describe('a folded name', () => {
  it.each([
    ['Name', 'name'],
    ['NAME', 'name'],
    ['name\0', 'name'],
    ['na\u00adme', 'name'],
    ['n\u0301ame', 'name'],
    ['\u{e0061}name', 'name'],
    ['ｎａｍｅ', 'name'],
    ['task_id', 'taskid'],
    ['TASK-ID', 'taskid'],
    ['taſK', 'task'],
    ['uRı', 'uri'],
    ['URİ', 'uri'],
    ['ﬁle', 'file'],
    ['Имя', 'имя'],
  ])('[SEC-10] %j is %j', (name, folded) => {
    expect(foldName(name)).toBe(folded);
  });

  it('[SEC-10] stays the same for every letter without case', () => {
    const letter = /^[a-z]$/iu;
    const missed: string[] = [];
    for (let code = 0; code <= LAST_CODE_POINT; code += 1) {
      const character = String.fromCodePoint(code);
      const readAs = [character.toLowerCase(), character.toUpperCase().toLowerCase()];
      const isLetter = letter.test(character) || readAs.some(read => /^[a-z]$/.test(read));
      if (isLetter && !/^[a-z]$/.test(foldName(character) ?? '')) missed.push(character);
    }
    expect(missed).toEqual([]);
  });

  it(`[SEC-10] is found under 2,000 spellings, seed ${SEED}`, () => {
    const random = createRandom(SEED);
    const names = new DecidedNames(DECIDED);
    const extra = [...'_- \0\u200b\u00ad\u0301\ufe0f\u2060\u3164'];
    const missed: string[] = [];
    for (let i = 0; i < 2_000; i += 1) {
      const name = random.pick(DECIDED);
      const disguised = Array.from(name, character => {
        const other = random.pick([character, character.toUpperCase(), character.toLowerCase()]);
        return random.below(3) === 0 ? random.pick(extra) + other : other;
      }).join('');
      const found = names.otherSpellingOf(disguised);
      if (found !== (disguised === name ? undefined : name)) missed.push(disguised);
    }
    expect(missed).toEqual([]);
  });

  it('[SEC-10] costs time linear in its length, with any characters', () => {
    const hostile = ['\u0301\u0323', 'ﷺ', '\u200b', 'a_', 'é', '\ud800', '\u1100\u1161'];
    for (const unit of hostile) {
      const name = unit.repeat(1_000_000 / unit.length);
      // One second for a megabyte: quadratic work takes minutes.
      expect([unit, leastCostOf(() => foldName(name), 500) < 1_000]).toEqual([unit, true]);
    }
  });
});
