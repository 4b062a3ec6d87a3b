/** Which tools a change gives and takes, compared with a separate decision for each person and tool; and that the work is bounded. */
import { expect, it } from 'vitest';
import {
  atToolset,
  changesFor,
  everywhere,
  selectionChange,
  type Changes,
  type Offer,
  type NamedHolder,
} from '../../../src/access/policy/change.ts';
import {
  createPolicy,
  viewOfToolset,
  type AccessState,
} from '../../../src/access/policy/policy.ts';
import type { AccessRule, Subject } from '../../../src/access/policy/rule.ts';
import type { Toolset } from '../../../src/access/policy/toolset.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';
import { createHolder, OPEN } from './callers.ts';

const TOOLS = ['get_a', 'get_b', 'set_a', 'drop'].map((name, i) => ({ name, isReadOnly: i < 2 }));
const OFFERS: Offer[] = ['github', 'files'].map((name, i) => {
  return { server: { id: `id-${i}`, name }, tools: TOOLS, hasRest: i === 0 };
});
const GROUPS = ['dev', 'ops', 'none'];
const PEOPLE: NamedHolder[] = Array.from({ length: 12 }, (_, i) => ({
  name: `person ${i}`,
  holder: createHolder({
    principalId: `p${i}`,
    groups: GROUPS.filter((_group, at) => (i >> at) % 2 === 1),
    isAdmin: i === 11,
  }),
}));

const subjectOf = (random: Random): Subject =>
  random.pick([
    { kind: 'everyone' },
    { kind: 'group', name: random.pick(GROUPS) },
    { kind: 'principal', id: `p${random.below(12)}` },
  ]);
const ruleOf = (random: Random, id: string): AccessRule => ({
  id,
  effect: random.pick(['allow', 'deny']),
  subject: subjectOf(random),
  server: random.pick(['*', 'id-0', 'f*']),
  tool: random.pick(['*', 'get_*', '*_a', 'drop']),
  readOnly: random.below(3) === 0,
});
function toolsetOf(random: Random): Toolset {
  const include = [random.pick(['*', 'github', 'files.get_*']), random.pick(['*.drop', 'id-0'])];
  const exclude = random.pick([[], ['*.set_*']]);
  const members = random.pick([undefined, { principals: ['p3'], groups: ['dev'] }]);
  const definition = { include, exclude, overrides: [], ...(members && { members }) };
  return { id: 't', name: random.pick(['t', 'u']), description: '', definition };
}

/** Every tool gained or lost, by person. */
function flat({ groups }: Changes): Map<string, string[]> {
  const entries = groups.flatMap(group => {
    const all = group.first(1_000).map(({ offer, tool = '(rest)', isGained }) => {
      return `${isGained ? '+' : '-'}${offer.server.name}.${tool}`;
    });
    const signs = all.map(([sign]) => sign);
    const count = (sign: string) => signs.filter(each => each === sign).length;
    if (count('+') !== group.gained || count('-') !== group.lost) throw new Error('Miscounted');
    return group.people.map(({ name }): [string, string[]] => [name, all]);
  });
  return new Map(entries.toSorted());
}

/** The same, computed with one decision per person and tool. */
function plainly(states: readonly [AccessState, AccessState], toolsetId?: string) {
  const seenBy = ({ holder }: NamedHolder, state: AccessState) => {
    const policy = createPolicy(holder, state);
    const toolset = state.toolsets.find(({ id }) => id === toolsetId);
    const usable = toolset && policy.toolset(toolset.name);
    return new Set(
      OFFERS.flatMap(({ server, tools, hasRest }) => {
        const views = [policy.viewOf(server), ...(usable ? [viewOfToolset(usable, server)] : [])];
        if (toolsetId !== undefined && !usable) return [];
        const seen = tools.filter(({ name, isReadOnly }) =>
          views.every(view => view.tool(name, isReadOnly)),
        );
        const rest = hasRest && views.every(view => view.rest) ? ['(rest)'] : [];
        return [...rest, ...seen.map(({ name }) => name)].map(each => `${server.name}.${each}`);
      }),
    );
  };
  const entries = PEOPLE.map((person): [string, string[]] => {
    const [before, after] = [seenBy(person, states[0]), seenBy(person, states[1])];
    const gained = [...after].filter(each => !before.has(each)).map(each => `+${each}`);
    const lost = [...before].filter(each => !after.has(each)).map(each => `-${each}`);
    return [person.name, [...gained, ...lost]];
  });
  return new Map(entries.filter(([, all]) => all.length > 0).toSorted());
}

const sorted = (all: Map<string, string[]>) =>
  [...all].map(([name, changes]) => [name, changes.toSorted()]);

it('[ACC-3] a change of rules shows the difference between the decisions before and after', () => {
  const random = createRandom(SEED);
  let changed = 0;
  for (let round = 0; round < 300; round += 1) {
    const rules = Array.from({ length: random.below(6) }, (_, i) => ruleOf(random, `r${i}`));
    const before: AccessState = { ...OPEN, defaultAccess: random.pick(['open', 'closed']), rules };
    const kept = random.below(2) === 0 ? rules : rules.slice(1);
    const after = { ...before, rules: [...kept, ruleOf(random, 'new')] };
    const found = changesFor(PEOPLE, everywhere, [before, after], OFFERS);
    expect(found.examined).toBe(PEOPLE.length);
    expect(sorted(flat(found))).toEqual(sorted(plainly([before, after])));
    changed += found.groups.length;
  }
  expect(changed).toBeGreaterThan(100);
});

it('[ACC-4] a change of toolsets shows the difference between the decisions before and after', () => {
  const random = createRandom(SEED);
  let changed = 0;
  for (let round = 0; round < 300; round += 1) {
    const rules = Array.from({ length: random.below(4) }, (_, i) => ruleOf(random, `r${i}`));
    const some = () => (random.below(4) === 0 ? [] : [toolsetOf(random)]);
    const states = [
      { ...OPEN, rules, toolsets: some() },
      { ...OPEN, rules, toolsets: some() },
    ] as const;
    const found = changesFor(PEOPLE, atToolset('t'), states, OFFERS);
    expect(sorted(flat(found))).toEqual(sorted(plainly(states, 't')));
    changed += found.groups.length;
  }
  expect(changed).toBeGreaterThan(100);
});

it('[ACC-4] a change of one toolset shows the tools that it gains and loses', () => {
  const toolset = (include: string[]): Toolset => {
    return {
      id: 't',
      name: 't',
      description: '',
      definition: { include, exclude: [], overrides: [] },
    };
  };
  const of = (include: string[]) => ({ ...OPEN, toolsets: [toolset(include)] });
  const found = selectionChange('t', [of(['github.get_*']), of(['github.*_a'])], OFFERS);
  expect([found.gained, found.lost]).toEqual([1, 1]);
  expect(found.first(9).map(({ tool }) => tool)).toEqual(['get_b', 'set_a']);
  expect(found.first(1).map(({ tool }) => tool)).toEqual(['get_b']);
});

it('[ACC-3] stops after a bounded number of comparisons, and reports how many it examined', () => {
  const rules = PEOPLE.map(({ holder }, i): AccessRule => {
    const subject: Subject = { kind: 'principal', id: holder.principalId };
    return { id: `r${i}`, effect: 'deny', subject, server: '*', tool: 'drop', readOnly: false };
  });
  const states = [OPEN, { ...OPEN, rules }] as const;
  const few = changesFor(PEOPLE, everywhere, states, OFFERS, 0);
  expect(few.examined).toBe(1);
  expect(flat(few).get('person 0')).toEqual(['-github.drop', '-files.drop']);
  // People with the same rules are decided on once, however many they are.
  const others = [...PEOPLE, ...PEOPLE.slice(0, 1), ...PEOPLE.slice(0, 1)];
  expect(changesFor(others, everywhere, states, OFFERS, 0).examined).toBe(3);
});
