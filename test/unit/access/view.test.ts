/** Views put together: what both let through, what one of them does, what patterns select. */
import { describe, expect, it } from 'vitest';
import { parseQualifiedPattern } from '../../../src/shared/util/name-pattern.ts';
import {
  both,
  either,
  NOTHING,
  selectionOf,
  WHOLE,
  type View,
} from '../../../src/access/policy/view.ts';

const files = { id: 'id-files', name: 'files' };
const TOOLS = ['read', 'write', 'drop'];

const select = (include: readonly string[], exclude: readonly string[] = []) =>
  selectionOf(files, include.map(parseQualifiedPattern), exclude.map(parseQualifiedPattern));
const seenIn = (view: View) => TOOLS.filter(tool => view.tool(tool, false));

const reading = select(['files.read', 'files.write']);
const writing = select(['files.write', 'files.drop']);
const undropped = select(['files'], ['files.drop']);

describe('a view', () => {
  it('[ACC-3] of everything or nothing is of the rest too', () => {
    expect([WHOLE.rest, seenIn(WHOLE)]).toEqual([true, TOOLS]);
    expect([NOTHING.rest, seenIn(NOTHING)]).toEqual([false, []]);
  });

  it('[ACC-3] of patterns is what any of them stands for, but for what is left out', () => {
    expect(seenIn(reading)).toEqual(['read', 'write']);
    expect(seenIn(select(['files.*r*'], ['files.drop', 'files.write']))).toEqual(['read']);
    expect([undropped.rest, seenIn(undropped)]).toEqual([true, ['read', 'write']]);
    expect(reading.rest).toBe(false);
    expect(select(['other.read'])).toBe(NOTHING);
    expect(select(['files.read'], ['files'])).toBe(NOTHING);
    expect(select(['files'], ['other'])).toBe(WHOLE);
  });
});

describe('both of two views', () => {
  it('[ACC-3] let through what each of them does', () => {
    expect(seenIn(both(reading, writing))).toEqual(['write']);
    expect(seenIn(both(undropped, writing))).toEqual(['write']);
    expect(both(undropped, select(['files'], ['files.read'])).rest).toBe(true);
    expect(both(undropped, writing).rest).toBe(false);
    expect(both(writing, undropped).rest).toBe(false);
  });

  it('[ACC-3] are nothing where one is: the server is then not there at all', () => {
    for (const view of [WHOLE, reading, undropped, NOTHING]) {
      expect(both(view, NOTHING)).toBe(NOTHING);
      expect(both(NOTHING, view)).toBe(NOTHING);
    }
  });

  it('[ACC-3] are one of them where the other adds nothing, so that what was filtered is found again', () => {
    for (const view of [WHOLE, reading, undropped]) {
      expect(both(view, WHOLE)).toBe(view);
      expect(both(WHOLE, view)).toBe(view);
      expect(both(view, view)).toBe(view);
    }
  });

  it('[ACC-3] have a key of their own', () => {
    const views = [reading, writing, undropped, WHOLE, NOTHING];
    const keys = new Map(views.map(view => [view.key, seenIn(view).join()]));
    for (const a of views) {
      for (const b of views) {
        for (const made of [both(a, b), either([a, b])]) {
          const seen = seenIn(made).join();
          expect([made.key, keys.get(made.key) ?? seen]).toEqual([made.key, seen]);
          keys.set(made.key, seen);
        }
      }
    }
  });
});

describe('either of views', () => {
  it('[ACC-4] lets through what one of them does', () => {
    expect(seenIn(either([reading, writing]))).toEqual(TOOLS);
    expect(either([reading, writing]).rest).toBe(false);
    expect(either([reading, undropped]).rest).toBe(true);
    expect(seenIn(either([reading, undropped, NOTHING]))).toEqual(['read', 'write']);
  });

  it('[ACC-4] is the one that is left, all where one is all, and nothing of none', () => {
    expect(either([NOTHING, reading])).toBe(reading);
    expect(either([reading, WHOLE])).toBe(WHOLE);
    expect(either([NOTHING, NOTHING])).toBe(NOTHING);
    expect(either([])).toBe(NOTHING);
  });
});
