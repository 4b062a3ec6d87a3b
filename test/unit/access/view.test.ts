/** Intersections and unions of views, and what patterns select. */
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
  it('[ACC-3] of everything includes prompts and resources, one of nothing excludes them', () => {
    expect([WHOLE.rest, seenIn(WHOLE)]).toEqual([true, TOOLS]);
    expect([NOTHING.rest, seenIn(NOTHING)]).toEqual([false, []]);
  });

  it('[ACC-3] of patterns includes what any pattern matches, except what is excluded', () => {
    expect(seenIn(reading)).toEqual(['read', 'write']);
    expect(seenIn(select(['files.*r*'], ['files.drop', 'files.write']))).toEqual(['read']);
    expect([undropped.rest, seenIn(undropped)]).toEqual([true, ['read', 'write']]);
    expect(reading.rest).toBe(false);
    expect(select(['other.read'])).toBe(NOTHING);
    expect(select(['files.read'], ['files'])).toBe(NOTHING);
    expect(select(['files'], ['other'])).toBe(WHOLE);
  });
});

describe('the intersection of two views', () => {
  it('[ACC-3] allows what both views allow', () => {
    expect(seenIn(both(reading, writing))).toEqual(['write']);
    expect(seenIn(both(undropped, writing))).toEqual(['write']);
    expect(both(undropped, select(['files'], ['files.read'])).rest).toBe(true);
    expect(both(undropped, writing).rest).toBe(false);
    expect(both(writing, undropped).rest).toBe(false);
  });

  it('[ACC-3] is NOTHING if either view is, so the server is not visible at all', () => {
    for (const view of [WHOLE, reading, undropped, NOTHING]) {
      expect(both(view, NOTHING)).toBe(NOTHING);
      expect(both(NOTHING, view)).toBe(NOTHING);
    }
  });

  it('[ACC-3] is one of the two if the other restricts nothing, so filtered lists are reused from the cache', () => {
    for (const view of [WHOLE, reading, undropped]) {
      expect(both(view, WHOLE)).toBe(view);
      expect(both(WHOLE, view)).toBe(view);
      expect(both(view, view)).toBe(view);
    }
  });

  it('[ACC-3] has a key that identifies its contents', () => {
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

describe('the union of views', () => {
  it('[ACC-4] allows what any of them allows', () => {
    expect(seenIn(either([reading, writing]))).toEqual(TOOLS);
    expect(either([reading, writing]).rest).toBe(false);
    expect(either([reading, undropped]).rest).toBe(true);
    expect(seenIn(either([reading, undropped, NOTHING]))).toEqual(['read', 'write']);
  });

  it('[ACC-4] is the only view that is not empty, WHOLE if one is whole, and NOTHING for no views', () => {
    expect(either([NOTHING, reading])).toBe(reading);
    expect(either([reading, WHOLE])).toBe(WHOLE);
    expect(either([NOTHING, NOTHING])).toBe(NOTHING);
    expect(either([])).toBe(NOTHING);
  });
});
