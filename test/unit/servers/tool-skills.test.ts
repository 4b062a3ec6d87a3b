/** The order of a tool's skills, its primary skill, and the ids made from names. */
import { describe, expect, it } from 'vitest';
import { toSkillId } from '../../../src/search/skills/skill.ts';
import { toAssigned, toToolSkills } from '../../../src/servers/registry/tool-skills.ts';

describe('the skills of a tool', () => {
  it('[AG-US3-AC2] are three at most, with confidences between 0 and 1', () => {
    const found = [
      { id: 'd', confidence: 0.1 },
      { id: 'c', confidence: 7 },
      { id: 'b', confidence: 0.33333 },
      { id: 'a', confidence: 0.33333 },
      { id: 'e', confidence: -1 },
    ];
    expect(toAssigned(found)).toEqual([
      { id: 'c', confidence: 1 },
      { id: 'a', confidence: 0.333 },
      { id: 'b', confidence: 0.333 },
    ]);
  });

  it('[AG-US3-AC3] have a primary one if the first has a confidence of one half or more', () => {
    const of = (confidence: number) =>
      toToolSkills([{ id: 'a', confidence }], 'embedded', null).primary;
    expect([of(0.5), of(0.499), of(1)]).toEqual(['a', undefined, 'a']);
  });

  it('[AG-US3-AC4] are empty for an unclassified tool, with the reason', () => {
    expect(toToolSkills([], 'none', 'It failed')).toEqual({
      skills: [],
      primary: undefined,
      isClassified: false,
      reason: 'It failed',
      source: 'none',
    });
  });
});

it.each([
  ['Issue Tracking', 'issue_tracking'],
  ['  E-commerce & Shops ', 'e_commerce_shops'],
  ['3D Printing', 'd_printing'],
  ['Économie', 'economie'],
  ['养蜂', undefined],
  ['x', undefined],
])('[FIND-3] the name %j becomes the id %s', (name, id) => {
  expect(toSkillId(name)).toBe(id);
});
