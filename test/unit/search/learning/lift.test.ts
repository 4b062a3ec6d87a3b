/** The lift that uses give a tool: bounded, decaying, from one's own uses or from three others who agree. */
import { describe, expect, it } from 'vitest';

import { MAX_LIFT, toLift, toSupport, type Use } from '../../../../src/search/learning/lift.ts';
import { createRandom, SEED } from '../../seeded.ts';

const TODAY = 20_000;
const used = (principalId: string, daysAgo = 0): Use => ({ principalId, day: TODAY - daysAgo });
const support = (...uses: Use[]) => toSupport(uses, 'me', TODAY);

describe('the support from uses of a tool', () => {
  it("[FIND-4] is one half for one's own use, and less after each half-life", () => {
    expect(support()).toBe(0);
    expect(support(used('me'))).toBe(1 / 2);
    expect(support(used('me', 14))).toBeCloseTo(1 / 3);
    expect(support(used('me', 28))).toBeCloseTo(1 / 5);
    // The clock of another machine may be ahead.
    expect(support(used('me', -3))).toBe(1 / 2);
  });

  it('[FIND-4] [ACC-3] needs three others, and no two of them can move it', () => {
    expect(support(used('a'), used('b'))).toBe(0);
    expect(support(used('a'), used('b'), used('c'))).toBe(1 / 2);
    expect(support(used('a'), used('b'), used('c'), used('d'))).toBe(2 / 3);
    // Two fresh uses do not refresh an old one.
    expect(support(used('a'), used('b'), used('c', 56))).toBeCloseTo(1 / 17);
    // One's own use does not complete an agreement with two others.
    expect(support(used('me'), used('a'), used('b'))).toBe(support(used('me')));
  });

  it(`[FIND-4] [ACC-3] changes by two more users no further than the honest uses allow (seed ${SEED})`, () => {
    const random = createRandom();
    for (let n = 0; n < 500; n += 1) {
      const honest = Array.from({ length: random.below(6) }, (_, i) =>
        used(`h${i}`, random.below(80)),
      );
      const sum = honest.reduce((all, { day }) => all + 2 ** ((day - TODAY) / 14), 0);
      const poisoned = support(...honest, used('x'), used('y'));
      expect(poisoned).toBeLessThanOrEqual(sum / (1 + sum) + 1e-12);
    }
  });

  it(`[FIND-4] lifts by no more than the bound, whatever was called (seed ${SEED})`, () => {
    const random = createRandom();
    for (let n = 0; n < 200; n += 1) {
      const crowd = Array.from({ length: random.below(300) }, (_, i) => used(`p${i}`));
      const lift = toLift([support(...crowd, used('me')), support(...crowd)]);
      expect(lift).toBeGreaterThanOrEqual(0);
      expect(lift).toBeLessThan(MAX_LIFT);
    }
  });

  it('[FIND-4] requires most words of a query', () => {
    expect(toLift([])).toBe(0);
    expect(toLift([0.5, 0])).toBe(0);
    expect(toLift([0.5, 0.5, 0])).toBeCloseTo(MAX_LIFT / 3);
    expect(toLift([0.5, 0.5])).toBe(MAX_LIFT / 2);
  });
});
