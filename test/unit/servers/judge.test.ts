/** Judgement: what is admitted of what a server offers, by its pins, its rule and the names of others. */
import { describe, expect, it } from 'vitest';
import {
  toDefinitions,
  toInstructions,
  type Definition,
} from '../../../src/servers/approvals/definition.ts';
import { judge, type Case, type Judgement } from '../../../src/servers/approvals/judge.ts';
import type { Pin, ToolApproval } from '../../../src/servers/registry/fingerprint.ts';
import { loadCorpus } from '../../fixtures/corpora.ts';
import { createRandom, SEED } from '../seeded.ts';
import { createDefinition, mutate, rewrite } from './definitions.ts';

const SERVER = 'server';

const toolsOf = async (...tools: object[]): Promise<Definition[]> => {
  const texts = tools.map(tool => JSON.stringify({ inputSchema: { type: 'object' }, ...tool }));
  return (await toDefinitions(SERVER, texts)).filter(definition => definition !== undefined);
};
const named = (...names: string[]) => toolsOf(...names.map(name => ({ name })));

/** The pins after a judgement, as the store has them then. */
function apply(pins: readonly Pin[], { changes, forgotten }: Judgement, at = 1): Pin[] {
  const after = new Map(pins.map(pin => [pin.id, pin]));
  for (const { approvedText: _, heldText: __, ...change } of changes) {
    after.set(change.id, { ...change, firstSeenAt: at, changedAt: at });
  }
  return [...after.values()].filter(({ id }) => !forgotten.includes(id));
}

const look = (
  definitions: readonly Definition[],
  pins: readonly Pin[] = [],
  more: Partial<Case> = {},
) =>
  judge({
    serverId: SERVER,
    definitions,
    pins,
    neighbours: [],
    copied: new Map(),
    approval: 'first',
    isFirst: pins.length === 0,
    ...more,
  });

const statesOf = (pins: readonly Pin[]) =>
  Object.fromEntries(pins.map(({ name, state }) => [name, state]));

describe('the first discovery', () => {
  it.each<[ToolApproval, string]>([
    ['first', 'approved'],
    ['hold', 'pending'],
    ['trust', 'approved'],
  ])('[SEC-7] under the rule %s is %s', async (approval, state) => {
    const judgement = look(await named('a', 'b'), [], { approval });
    expect(judgement.changes.map(change => change.state)).toEqual([state, state]);
    expect(judgement.admitted.size).toBe(state === 'approved' ? 2 : 0);
    expect(judgement.heldTools).toBe(state === 'approved' ? 0 : 2);
  });
});

describe('what comes later', () => {
  it('[SEC-7] is held where it is new or another, and nothing changes where nothing did', async () => {
    const pins = apply([], look(await named('a', 'b')));
    const offered = await toolsOf({ name: 'a' }, { name: 'b', title: 'x' }, { name: 'c' });
    const judgement = look(offered, pins);
    expect(judgement.admitted).toEqual(new Set([offered[0]?.id]));
    const after = apply(pins, judgement, 2);
    expect(statesOf(after)).toEqual({ a: 'approved', b: 'changed', c: 'pending' });
    expect(judgement.heldTools).toBe(2);
    expect(look(offered, after)).toMatchObject({ changes: [], forgotten: [], heldTools: 2 });
  });

  it('[SEC-7] is approved where the server is trusted, but for what was rejected', async () => {
    const pins = apply([], look(await named('a')));
    const [changed] = await toolsOf({ name: 'a', title: 'x' });
    expect(look([changed as Definition], pins, { approval: 'trust' }).admitted.size).toBe(1);
    const rejected = pins.map(pin => ({ ...pin, rejectedFingerprint: changed?.fingerprint ?? '' }));
    const judgement = look([changed as Definition], rejected, { approval: 'trust' });
    expect(judgement.admitted.size).toBe(0);
    expect(judgement).toMatchObject({ changes: [{ state: 'rejected' }], heldTools: 0 });
  });

  it('[SEC-7] is remembered when it is gone, and approved when it is back as it was', async () => {
    const pins = apply([], look(await named('a', 'b')));
    const without = apply(pins, look(await named('a'), pins), 2);
    expect(statesOf(without)).toEqual({ a: 'approved', b: 'removed' });
    expect(look(await named('a'), without)).toMatchObject({ changes: [], forgotten: [] });
    expect(look(await named('a', 'b'), without).admitted.size).toBe(2);
    expect(look(await toolsOf({ name: 'b', title: 'x' }), without).admitted.size).toBe(0);
  });

  it('[SEC-7] [SEC-4] is forgotten where nobody decided on it, or too much is gone', async () => {
    const pending = apply(
      apply([], look(await named('a'))),
      look(await named('a', 'b'), apply([], look(await named('a')))),
    );
    expect(look(await named('a'), pending).forgotten).toHaveLength(1);
    const many = await named(...Array.from({ length: 1_200 }, (_, i) => `${i}-tool-${i * 7}`));
    const pins = apply([], look(many, [], { approval: 'trust' }));
    const judgement = look([], pins);
    expect(judgement.forgotten).toHaveLength(pins.length - 1_000);
    expect(apply(pins, judgement)).toHaveLength(1_000);
  });

  it('[SEC-7] has instructions apart from tools', async () => {
    const instructions = await toInstructions(SERVER, 'be kind');
    const pins = apply([], look([...(await named('a')), instructions]));
    const other = await toInstructions(SERVER, 'be kinder');
    const judgement = look([...(await named('a')), other], pins);
    expect(judgement.admitted.has(other.id)).toBe(false);
    expect(judgement).toMatchObject({ changes: [{ state: 'changed' }], heldTools: 0 });
  });
});

describe('many changes', () => {
  it(`[SEC-7] of one field are all held, other ways to write the same are none (1,000 each, seed ${SEED})`, async () => {
    const random = createRandom();
    const tools = Array.from({ length: 1_000 }, (_, index) => ({
      ...createDefinition(random),
      name: `${index} tool ${'x'.repeat(index % 7)}`,
    }));
    const pins = apply([], look(await toolsOf(...tools), [], { approval: 'trust' }));
    const written = tools.map(tool => rewrite(tool, random));
    const same = (await toDefinitions(SERVER, written)).filter(one => one !== undefined);
    expect(look(same, pins)).toMatchObject({ changes: [], forgotten: [], heldTools: 0 });
    expect(look(same, pins).admitted.size).toBe(1_000);
    const mutated = tools.map(tool => mutate(tool, random).definition);
    const texts = mutated.map(tool => JSON.stringify(tool));
    const others = await toDefinitions(
      SERVER,
      texts.filter(text => typeof (JSON.parse(text) as { name?: unknown }).name === 'string'),
    );
    const judgement = look(
      others.filter(one => one !== undefined),
      pins,
    );
    expect(others.length).toBeGreaterThan(900);
    expect(judgement.admitted).toEqual(new Set());
  });
});

const { cases, origin } = loadCorpus('hostile-tool-names');
/** Another style of the same words, which deceives nobody. */
const STYLES = new Set<string | undefined>(['case', 'separator', 'suffix']);
const imitations = cases.flatMap(({ target: name, spoof, class: kind }) =>
  name && spoof && kind !== 'hostile-name' ? [{ name, spoof, isStyle: STYLES.has(kind) }] : [],
);
const spoofs = imitations.filter(({ isStyle }) => !isStyle);
const styles = imitations.filter(({ isStyle }) => isStyle);
const imitated = [...new Set(spoofs.map(({ name }) => name))];
const hostile = [...new Set(spoofs.map(({ spoof }) => spoof))];

/** Names of honest servers, which the first start of a gateway has side by side. */
const STYLED = [
  'search_records',
  'search-records',
  'searchRecords',
  'search',
  'search_v2',
  'search.v3',
  'list_issues',
  'listIssues',
  'LIST_ISSUES',
  'read_mail',
  'read_mall',
  'get_file',
  'getFile_v1',
];

describe('a name that misleads', () => {
  it(`[SEC-7] is quarantined beside what it looks like, whatever the order (${origin})`, async () => {
    for (const names of [
      [...imitated, ...hostile],
      [...hostile.filter(name => !/^[ -~]*$/.test(name)), ...imitated],
    ]) {
      const offered = await named(...names);
      const judgement = look(offered);
      const admitted = offered.filter(({ id }) => judgement.admitted.has(id));
      expect(admitted.map(({ name }) => name)).toEqual(imitated);
    }
  });

  it(`[SEC-7] is quarantined where another server has what it looks like (${origin})`, async () => {
    const neighbours = (await named(...imitated)).map(({ name, skeleton }) => ({
      serverId: 'other',
      name,
      skeleton,
    }));
    const judgement = look(await named(...hostile), [], { neighbours });
    expect(judgement.admitted.size).toBe(0);
    expect(new Set(judgement.changes.map(({ state }) => state))).toEqual(new Set(['quarantined']));
    expect(look(await named(...imitated), [], { neighbours }).admitted.size).toBe(imitated.length);
  });

  it(`[SEC-7] is none where it is another style of the same words, here or at another server (${origin})`, async () => {
    const names = styles.flatMap(({ name, spoof }) => [name, spoof]);
    const offered = await named(...new Set(names), ...STYLED);
    expect(offered.length).toBeGreaterThan(STYLED.length);
    expect(look(offered).admitted.size).toBe(offered.length);
    const neighbours = offered.map(({ name, skeleton }) => ({ serverId: 'other', name, skeleton }));
    const others = await named(
      ...styles.map(({ spoof }) => spoof),
      'searchrecords',
      'SearchRecords',
    );
    expect(look(others, [], { neighbours }).changes.map(({ state }) => state)).toEqual(
      others.map(() => 'approved'),
    );
  });

  it.each([
    ['send_emaiI', 'send_email'],
    ['1ist_fi1es', 'list_files'],
    ['l1st_files', 'list_files'],
    ['tw1n_tool', 'twin-tool'],
    ['SendEma\u0456l', 'send_email'],
    ['modem_status', 'modern_status'],
    ['re\u0301ad', 'r\u00e9ad'],
    ['delete_0ld', 'deleteOld'],
    ['\uff52ead', 'read'],
  ])(
    '[SEC-7] is quarantined for its letters, in whatever style (%j for %j)',
    async (spoof, name) => {
      const [{ skeleton = '' } = {}] = await named(name);
      const neighbours = [{ serverId: 'other', name, skeleton }];
      const { changes } = look(await named(spoof), [], { neighbours });
      expect(changes).toMatchObject([
        { state: 'quarantined', reason: { kind: 'look_alike', serverId: 'other', name } },
      ]);
    },
  );

  it('[SEC-7] is quarantined where it is the qualified name of a tool elsewhere', async () => {
    const [copy, plain] = await named('github.create_issue', 'create_issue');
    if (!copy || !plain) throw new Error('names');
    const original = { serverId: 'github', name: 'create_issue', skeleton: plain.skeleton };
    const copied = new Map([[copy.id, original]]);
    const { changes } = look([copy, plain], [], { copied, neighbours: [original] });
    expect(Object.fromEntries(changes.map(({ name, state }) => [name, state]))).toEqual({
      'github.create_issue': 'quarantined',
      create_issue: 'approved',
    });
  });

  it('[SEC-7] is quarantined for what cannot be seen in it, and says why', async () => {
    const { changes } = look(await named('send\u200b', 'send_', 'send', 'xy', 'x\ny'));
    expect(Object.fromEntries(changes.map(({ name, reason }) => [name, reason]))).toEqual({
      'send\u200b': { kind: 'look_alike', serverId: SERVER, name: 'send_' },
      send_: null,
      send: null,
      xy: null,
      'x\ny': { kind: 'hidden_characters' },
    });
  });

  it('[SEC-7] is approved by an administrator, and then stays so', async () => {
    const pins = apply([], look(await named('send', 's\u0435nd')));
    expect(statesOf(pins)).toEqual({ send: 'approved', 's\u0435nd': 'quarantined' });
    const approved = pins.map(pin => ({
      ...pin,
      state: 'approved' as const,
      approvedFingerprint: pin.heldFingerprint ?? pin.approvedFingerprint,
      heldFingerprint: null,
      reason: null,
    }));
    expect(look(await named('send', 's\u0435nd'), approved)).toMatchObject({ changes: [] });
    expect(look(await named('send', 's\u0435nd'), approved).admitted.size).toBe(2);
  });

  it('[SEC-7] stays so when what waits is judged again', async () => {
    const offered = await named('send', 's\u0435nd');
    const pins = apply([], look(offered, [], { approval: 'hold' }));
    expect(statesOf(pins)).toEqual({ send: 'pending', 's\u0435nd': 'quarantined' });
    expect(look(offered, pins, { approval: 'hold' })).toMatchObject({ changes: [] });
  });
});
