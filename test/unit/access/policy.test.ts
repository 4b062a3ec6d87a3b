/** The access decision: precedence of rules, default access, limits of tokens and toolsets, compared with a naive implementation. */
import { describe, expect, it } from 'vitest';
import { createPolicy, type AccessState, type Holder } from '../../../src/access/policy/policy.ts';
import type { AccessRule, Subject } from '../../../src/access/policy/rule.ts';
import type { Definition, Toolset } from '../../../src/access/policy/toolset.ts';
import { NOTHING, WHOLE } from '../../../src/access/policy/view.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';
import { createHolder, OPEN } from './callers.ts';

const github = { id: 'id-1', name: 'GitHub' };
const files = { id: 'id-2', name: 'files' };
const everyone: Subject = { kind: 'everyone' };
const group = (name: string): Subject => ({ kind: 'group', name });
const ada: Subject = { kind: 'principal', id: 'ada' };

let made = 0;
const rule = (
  effect: 'allow' | 'deny',
  subject: Subject,
  more: Partial<AccessRule> = {},
): AccessRule => {
  const id = `r${(made += 1)}`;
  return { id, effect, subject, server: '*', tool: '*', readOnly: false, ...more };
};
const toolset = (name: string, definition: Partial<Definition>): Toolset => {
  const whole = { include: ['*'], exclude: [], overrides: [], ...definition };
  return { id: `id-${name}`, name, description: '', definition: whole };
};
const policyOf = (
  rules: AccessRule[],
  holder: Partial<Holder> = {},
  state: Partial<AccessState> = {},
) => createPolicy(createHolder(holder), { ...OPEN, rules, ...state });

describe('precedence', () => {
  it.each<[what: string, rules: AccessRule[], holder: Partial<Holder>, isAllowed: boolean]>([
    ['no rule, open', [], {}, true],
    [
      'a deny outweighs an allow of its level',
      [rule('allow', everyone), rule('deny', everyone)],
      {},
      false,
    ],
    [
      'a group before everyone',
      [rule('deny', everyone), rule('allow', group('dev'))],
      { groups: ['dev'] },
      true,
    ],
    [
      'not another group',
      [rule('deny', everyone), rule('allow', group('dev'))],
      { groups: ['ops'] },
      false,
    ],
    [
      'a principal before its group',
      [rule('allow', group('dev')), rule('deny', ada)],
      { principalId: 'ada', groups: ['dev'] },
      false,
    ],
    [
      'a principal allowed where its group is not',
      [rule('deny', group('dev')), rule('allow', ada)],
      { principalId: 'ada', groups: ['dev'] },
      true,
    ],
    [
      'two groups: a deny of one',
      [rule('allow', group('dev')), rule('deny', group('ops'))],
      { groups: ['dev', 'ops'] },
      false,
    ],
    ['another server', [rule('deny', everyone, { server: 'files' })], {}, true],
    ['this server by its id', [rule('deny', everyone, { server: 'id-1' })], {}, false],
    ['a rule for holders of admin too', [rule('deny', everyone)], { isAdmin: true }, false],
  ])('[ACC-3] %s', (_what, rules, holder, isAllowed) => {
    const policy = policyOf(rules, holder);
    expect(policy.viewOf(github).tool('create_issue', false)).toBe(isAllowed);
    expect(policy.explain(github, 'create_issue', false).isAllowed).toBe(isAllowed);
  });

  it('[ACC-3] with default access closed, only a holder of admin gets through', () => {
    const closed = { defaultAccess: 'closed' } as const;
    expect(policyOf([], {}, closed).viewOf(github)).toBe(NOTHING);
    expect(policyOf([], { isAdmin: true }, closed).viewOf(github)).toBe(WHOLE);
    const one = policyOf([rule('allow', everyone, { server: 'files', tool: 'read' })], {}, closed);
    expect(one.viewOf(github)).toBe(NOTHING);
    expect(one.viewOf(files).tool('read', false)).toBe(true);
    expect(one.viewOf(files).tool('write', false)).toBe(false);
    expect(one.viewOf(files).rest).toBe(false);
  });

  it('[ACC-3] rules for read-only tools apply only to those', () => {
    const rules = [rule('deny', everyone), rule('allow', group('dev'), { readOnly: true })];
    const view = policyOf(rules, { groups: ['dev'] }).viewOf(github);
    expect(view.tool('list', true)).toBe(true);
    expect(view.tool('drop', false)).toBe(false);
    expect(view.rest).toBe(false);
  });

  it('[ACC-3] prompts and resources follow the rules for the whole server', () => {
    expect(policyOf([rule('deny', everyone, { tool: 'drop' })]).viewOf(github).rest).toBe(true);
    expect(policyOf([rule('deny', everyone, { server: 'github' })]).viewOf(github)).toBe(NOTHING);
  });

  it('[ACC-3] leave nothing of a server of which no tool could be allowed, whatever other rules there are', () => {
    const denied = rule('deny', group('dev'), { server: 'github' });
    const other = [rule('deny', everyone, { tool: 'drop' }), rule('allow', everyone)];
    const dev = { groups: ['dev'] };
    expect(policyOf([denied, ...other], dev).viewOf(github)).toBe(NOTHING);
    expect(policyOf(other.slice(0, 1), dev, { defaultAccess: 'closed' }).viewOf(github)).toBe(
      NOTHING,
    );
    const own = rule('allow', ada, { tool: 'list' });
    const view = policyOf([denied, ...other, own], { ...dev, principalId: 'ada' }).viewOf(github);
    expect([view.tool('list', false), view.tool('drop', false)]).toEqual([true, false]);
    expect(
      policyOf([own], { principalId: 'ada' }, { defaultAccess: 'closed' }).viewOf(github),
    ).not.toBe(NOTHING);
  });

  it('[ACC-3] explains which rule decided', () => {
    const deny = rule('deny', everyone, { tool: 'drop' });
    const policy = policyOf([deny], { servers: ['id-1'], tools: ['github.a*'] });
    expect(policy.explain(github, 'drop', false)).toStrictEqual({
      isAllowed: false,
      by: 'rule',
      ruleId: deny.id,
    });
    expect(policy.explain(github, 'add', false)).toStrictEqual({ isAllowed: true, by: 'posture' });
    expect(policy.explain(github, 'move', false)).toEqual({ isAllowed: false, by: 'token_tools' });
    expect(policy.explain(files, 'add', false)).toEqual({ isAllowed: false, by: 'token_servers' });
  });
});

describe('the limits of a token', () => {
  it('[ACC-1] [ACC-3] restrict what the rules allow', () => {
    const allow = [rule('allow', everyone)];
    const named = policyOf(allow, { servers: ['id-2'] });
    expect([named.viewOf(github), named.viewOf(files)]).toEqual([NOTHING, WHOLE]);
    const tools = policyOf(allow, { tools: ['github.create_*', 'files'] });
    expect(tools.viewOf(github).tool('create_issue', false)).toBe(true);
    expect(tools.viewOf(github).tool('drop', false)).toBe(false);
    expect([tools.viewOf(github).rest, tools.viewOf(files)]).toEqual([false, WHOLE]);
    expect(policyOf(allow, { tools: [] }).viewOf(github)).toBe(NOTHING);
  });

  it('[ACC-4] [ACC-3] to toolsets allow what those select, to their members', () => {
    const toolsets = [
      toolset('reading', { include: ['*.read_*'], exclude: ['files.read_secret'] }),
      toolset('team', { include: ['github'], members: { principals: [], groups: ['dev'] } }),
    ];
    const both = policyOf([], { toolsets: ['id-reading', 'id-team'] }, { toolsets });
    expect(both.viewOf(files).tool('read_file', false)).toBe(true);
    expect(both.viewOf(files).tool('read_secret', false)).toBe(false);
    expect(both.viewOf(github).tool('create', false)).toBe(false);
    expect(both.toolset('reading')?.id).toBe('id-reading');
    expect(both.toolset('team')).toBeUndefined();
    const dev = policyOf([], { toolsets: ['id-team'], groups: ['dev'] }, { toolsets });
    expect([dev.viewOf(github), dev.viewOf(files)]).toEqual([WHOLE, NOTHING]);
    expect([dev.toolset('team')?.id, dev.toolset('reading')]).toEqual(['id-team', undefined]);
    expect(policyOf([], { toolsets: ['gone'] }, { toolsets }).viewOf(github)).toBe(NOTHING);
  });

  it('[ACC-4] to a toolset of several groups apply to members of any of them', () => {
    const members = { principals: ['bob'], groups: ['dev', 'ops'] };
    const state = { toolsets: [toolset('team', { members })] };
    expect(policyOf([], { groups: ['ops'] }, state).toolset('team')?.id).toBe('id-team');
    expect(policyOf([], { principalId: 'bob' }, state).toolset('team')?.id).toBe('id-team');
    expect(policyOf([], { groups: ['sales'] }, state).toolset('team')).toBeUndefined();
  });

  it('[ACC-1] serialize equal limits to equal text, and no limits to an empty one', () => {
    const limitsOf = (holder: Partial<Holder>) => policyOf([], holder).limits;
    expect(limitsOf({})).toBe('');
    expect(limitsOf({ servers: ['b', 'a'] })).toBe(limitsOf({ servers: ['a', 'b'] }));
    const different = [{}, { servers: ['a'] }, { tools: ['a'] }, { toolsets: ['a'] }];
    expect(new Set([...different, { servers: [] }].map(limitsOf)).size).toBe(5);
  });

  it('[ACC-1] say whether a token may administer a whole server, regardless of rules', () => {
    const isWhole = (holder: Partial<Holder>) =>
      policyOf([rule('deny', everyone)], holder).administers(github);
    expect(isWhole({})).toBe(true);
    expect(isWhole({ servers: ['id-1'], tools: ['github'] })).toBe(true);
    expect(isWhole({ servers: ['id-1'], tools: ['github.create_*'] })).toBe(false);
    expect(isWhole({ servers: ['id-2'] })).toBe(false);
    expect(isWhole({ toolsets: [] })).toBe(false);
  });

  it('[ACC-3] are computed once per server', () => {
    const policy = policyOf([], { tools: ['github.create_*'] });
    expect(policy.viewOf(github)).toBe(policy.viewOf(github));
  });
});

/** Evaluates the rules one by one, as the documentation describes them. */
function oracle(
  rules: AccessRule[],
  holder: Holder,
  server: typeof github,
  tool: string,
  isReadOnly: boolean,
) {
  const level = ({ subject }: AccessRule) =>
    subject.kind === 'principal'
      ? subject.id === holder.principalId
        ? 2
        : -1
      : subject.kind === 'group'
        ? holder.groups.includes(subject.name)
          ? 1
          : -1
        : 0;
  const regex = (pattern: string, flags = '') =>
    new RegExp(
      `^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`,
      flags,
    );
  const matching = rules.filter(
    candidate =>
      level(candidate) >= 0 &&
      (candidate.server === server.id || regex(candidate.server, 'i').test(server.name)) &&
      regex(candidate.tool).test(tool) &&
      (!candidate.readOnly || isReadOnly),
  );
  const top = Math.max(-1, ...matching.map(level));
  if (top === -1) return true;
  return matching
    .filter(candidate => level(candidate) === top)
    .every(({ effect }) => effect === 'allow');
}

const drawRule = (random: Random) =>
  rule(random.pick(['allow', 'deny']), random.pick([everyone, group('dev'), group('ops'), ada]), {
    server: random.pick(['*', 'github', 'id-2', 'f*', 'none']),
    tool: random.pick(['*', 'read_*', '*_issue', 'create_issue', 'drop']),
    readOnly: random.chance(0.3),
  });

describe(`2,000 random sets of rules, seed ${SEED}`, () => {
  it('[ACC-3] decide as documented, whatever their order', () => {
    const random = createRandom(SEED);
    for (let i = 0; i < 2_000; i += 1) {
      const rules = Array.from({ length: random.below(6) }, () => drawRule(random));
      const groups = ['dev', 'ops'].filter(() => random.chance(0.5));
      const holder = createHolder({ principalId: random.pick(['ada', 'bob']), groups });
      const policy = createPolicy(holder, { ...OPEN, rules });
      const reversed = createPolicy(holder, { ...OPEN, rules: rules.toReversed() });
      for (const server of [github, files]) {
        for (const tool of ['read_file', 'create_issue', 'drop', 'x']) {
          for (const isReadOnly of [true, false]) {
            const wanted = oracle(rules, holder, server, tool, isReadOnly);
            const seen = policy.viewOf(server).tool(tool, isReadOnly);
            expect([i, server.name, tool, isReadOnly, seen]).toEqual([
              i,
              server.name,
              tool,
              isReadOnly,
              wanted,
            ]);
            expect(reversed.viewOf(server).tool(tool, isReadOnly)).toBe(wanted);
            expect(policy.explain(server, tool, isReadOnly).isAllowed).toBe(wanted);
          }
        }
      }
    }
  });
});
