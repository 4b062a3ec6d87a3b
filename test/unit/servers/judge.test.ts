/** Judgement: which offered definitions are admitted, by their approvals, the server's rule and other servers' names. */
import { describe, expect, it } from 'vitest';
import {
  toDefinitions,
  toInstructions,
  type Definition,
} from '../../../src/servers/approvals/definition.ts';
import { judge, type Case, type Judgement } from '../../../src/servers/approvals/judge.ts';
import type { ApprovalRecord, ToolApproval } from '../../../src/servers/registry/approval.ts';
import { loadCorpus } from '../../fixtures/corpora.ts';
import { createRandom, SEED } from '../seeded.ts';
import { createDefinition, mutate, rewrite } from './definitions.ts';

const SERVER = 'server';

const toolsOf = async (...tools: object[]): Promise<Definition[]> => {
  const texts = tools.map(tool => JSON.stringify({ inputSchema: { type: 'object' }, ...tool }));
  return (await toDefinitions(SERVER, texts)).filter(definition => definition !== undefined);
};
const named = (...names: string[]) => toolsOf(...names.map(name => ({ name })));

/** The approvals as stored after a judgement. */
function apply(
  approvals: readonly ApprovalRecord[],
  { changes, forgotten }: Judgement,
  at = 1,
): ApprovalRecord[] {
  const after = new Map(approvals.map(toolApproval => [toolApproval.id, toolApproval]));
  for (const { approvedText: _, heldText: __, ...change } of changes) {
    after.set(change.id, { ...change, firstSeenAt: at, changedAt: at });
  }
  return [...after.values()].filter(({ id }) => !forgotten.includes(id));
}

const discover = (
  definitions: readonly Definition[],
  approvals: readonly ApprovalRecord[] = [],
  more: Partial<Case> = {},
) =>
  judge({
    serverId: SERVER,
    definitions,
    approvals,
    neighbours: [],
    copied: new Map(),
    toolApproval: 'first',
    isFirst: approvals.length === 0,
    ...more,
  });

const statesOf = (approvals: readonly ApprovalRecord[]) =>
  Object.fromEntries(approvals.map(({ name, state }) => [name, state]));

describe('the first discovery', () => {
  it.each<[ToolApproval, string]>([
    ['first', 'approved'],
    ['hold', 'pending'],
    ['trust', 'approved'],
  ])('[SEC-7] under the rule %s is %s', async (toolApproval, state) => {
    const judgement = discover(await named('a', 'b'), [], { toolApproval });
    expect(judgement.changes.map(change => change.state)).toEqual([state, state]);
    expect(judgement.admitted.size).toBe(state === 'approved' ? 2 : 0);
    expect(judgement.heldTools).toBe(state === 'approved' ? 0 : 2);
  });
});

describe('a later discovery', () => {
  it('[SEC-7] holds what is new or changed, and changes nothing if nothing changed', async () => {
    const approvals = apply([], discover(await named('a', 'b')));
    const offered = await toolsOf({ name: 'a' }, { name: 'b', title: 'x' }, { name: 'c' });
    const judgement = discover(offered, approvals);
    expect(judgement.admitted).toEqual(new Set([offered[0]?.id]));
    const after = apply(approvals, judgement, 2);
    expect(statesOf(after)).toEqual({ a: 'approved', b: 'changed', c: 'pending' });
    expect(judgement.heldTools).toBe(2);
    expect(discover(offered, after)).toMatchObject({ changes: [], forgotten: [], heldTools: 2 });
  });

  it('[SEC-7] approves definitions of a trusted server, except rejected ones', async () => {
    const approvals = apply([], discover(await named('a')));
    const [changed] = await toolsOf({ name: 'a', title: 'x' });
    expect(
      discover([changed as Definition], approvals, { toolApproval: 'trust' }).admitted.size,
    ).toBe(1);
    const rejected = approvals.map(toolApproval => ({
      ...toolApproval,
      rejectedFingerprint: changed?.fingerprint ?? '',
    }));
    const judgement = discover([changed as Definition], rejected, { toolApproval: 'trust' });
    expect(judgement.admitted.size).toBe(0);
    expect(judgement).toMatchObject({ changes: [{ state: 'rejected' }], heldTools: 0 });
  });

  it('[SEC-7] remembers a removed definition, and approves it when it returns unchanged', async () => {
    const approvals = apply([], discover(await named('a', 'b')));
    const without = apply(approvals, discover(await named('a'), approvals), 2);
    expect(statesOf(without)).toEqual({ a: 'approved', b: 'removed' });
    expect(discover(await named('a'), without)).toMatchObject({ changes: [], forgotten: [] });
    expect(discover(await named('a', 'b'), without).admitted.size).toBe(2);
    expect(discover(await toolsOf({ name: 'b', title: 'x' }), without).admitted.size).toBe(0);
  });

  it('[SEC-7] [SEC-4] forgets a removed definition without a decision, or if too many are removed', async () => {
    const pending = apply(
      apply([], discover(await named('a'))),
      discover(await named('a', 'b'), apply([], discover(await named('a')))),
    );
    expect(discover(await named('a'), pending).forgotten).toHaveLength(1);
    const many = await named(...Array.from({ length: 1_200 }, (_, i) => `${i}-tool-${i * 7}`));
    const approvals = apply([], discover(many, [], { toolApproval: 'trust' }));
    const judgement = discover([], approvals);
    expect(judgement.forgotten).toHaveLength(approvals.length - 1_000);
    expect(apply(approvals, judgement)).toHaveLength(1_000);
  });

  it('[SEC-7] judges instructions separately from tools', async () => {
    const instructions = await toInstructions(SERVER, 'be kind');
    const approvals = apply([], discover([...(await named('a')), instructions]));
    const other = await toInstructions(SERVER, 'be kinder');
    const judgement = discover([...(await named('a')), other], approvals);
    expect(judgement.admitted.has(other.id)).toBe(false);
    expect(judgement).toMatchObject({ changes: [{ state: 'changed' }], heldTools: 0 });
  });
});

describe('many changes', () => {
  it(`[SEC-7] of one field are all held, equivalent spellings never (1,000 each, seed ${SEED})`, async () => {
    const random = createRandom();
    const tools = Array.from({ length: 1_000 }, (_, index) => ({
      ...createDefinition(random),
      name: `${index} tool ${'x'.repeat(index % 7)}`,
    }));
    const approvals = apply([], discover(await toolsOf(...tools), [], { toolApproval: 'trust' }));
    const written = tools.map(tool => rewrite(tool, random));
    const same = (await toDefinitions(SERVER, written)).filter(one => one !== undefined);
    expect(discover(same, approvals)).toMatchObject({ changes: [], forgotten: [], heldTools: 0 });
    expect(discover(same, approvals).admitted.size).toBe(1_000);
    const mutated = tools.map(tool => mutate(tool, random).definition);
    const texts = mutated.map(tool => JSON.stringify(tool));
    const others = await toDefinitions(
      SERVER,
      texts.filter(text => typeof (JSON.parse(text) as { name?: unknown }).name === 'string'),
    );
    const judgement = discover(
      others.filter(one => one !== undefined),
      approvals,
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

/** Names of honest servers, which a first start of a gateway has side by side. */
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

describe('a misleading name', () => {
  it(`[SEC-7] is quarantined beside the name that it imitates, in any order (${origin})`, async () => {
    for (const names of [
      [...imitated, ...hostile],
      [...hostile.filter(name => !/^[ -~]*$/.test(name)), ...imitated],
    ]) {
      const offered = await named(...names);
      const judgement = discover(offered);
      const admitted = offered.filter(({ id }) => judgement.admitted.has(id));
      expect(admitted.map(({ name }) => name)).toEqual(imitated);
    }
  });

  it(`[SEC-7] is quarantined if another server has the name that it imitates (${origin})`, async () => {
    const neighbours = (await named(...imitated)).map(({ name, skeleton }) => ({
      serverId: 'other',
      name,
      skeleton,
    }));
    const judgement = discover(await named(...hostile), [], { neighbours });
    expect(judgement.admitted.size).toBe(0);
    expect(new Set(judgement.changes.map(({ state }) => state))).toEqual(new Set(['quarantined']));
    expect(discover(await named(...imitated), [], { neighbours }).admitted.size).toBe(
      imitated.length,
    );
  });

  it(`[SEC-7] is not assumed for another style of the same words, here or at another server (${origin})`, async () => {
    const names = styles.flatMap(({ name, spoof }) => [name, spoof]);
    const offered = await named(...new Set(names), ...STYLED);
    expect(offered.length).toBeGreaterThan(STYLED.length);
    expect(discover(offered).admitted.size).toBe(offered.length);
    const neighbours = offered.map(({ name, skeleton }) => ({ serverId: 'other', name, skeleton }));
    const others = await named(
      ...styles.map(({ spoof }) => spoof),
      'searchrecords',
      'SearchRecords',
    );
    expect(discover(others, [], { neighbours }).changes.map(({ state }) => state)).toEqual(
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
    '[SEC-7] is quarantined for its letters, in whatever case (%j for %j)',
    async (spoof, name) => {
      const [{ skeleton = '' } = {}] = await named(name);
      const neighbours = [{ serverId: 'other', name, skeleton }];
      const { changes } = discover(await named(spoof), [], { neighbours });
      expect(changes).toMatchObject([
        { state: 'quarantined', reason: { kind: 'look_alike', serverId: 'other', name } },
      ]);
    },
  );

  it('[SEC-7] is quarantined if it is the qualified name of a tool elsewhere', async () => {
    const [copy, plain] = await named('github.create_issue', 'create_issue');
    if (!copy || !plain) throw new Error('names');
    const original = { serverId: 'github', name: 'create_issue', skeleton: plain.skeleton };
    const copied = new Map([[copy.id, original]]);
    const { changes } = discover([copy, plain], [], { copied, neighbours: [original] });
    expect(Object.fromEntries(changes.map(({ name, state }) => [name, state]))).toEqual({
      'github.create_issue': 'quarantined',
      create_issue: 'approved',
    });
  });

  it('[SEC-7] is quarantined for invisible characters, with the reason', async () => {
    const { changes } = discover(await named('send\u200b', 'send_', 'send', 'xy', 'x\ny'));
    expect(Object.fromEntries(changes.map(({ name, reason }) => [name, reason]))).toEqual({
      'send\u200b': { kind: 'look_alike', serverId: SERVER, name: 'send_' },
      send_: null,
      send: null,
      xy: null,
      'x\ny': { kind: 'hidden_characters' },
    });
  });

  it('[SEC-7] stays approved once an administrator approved it', async () => {
    const approvals = apply([], discover(await named('send', 's\u0435nd')));
    expect(statesOf(approvals)).toEqual({ send: 'approved', 's\u0435nd': 'quarantined' });
    const approved = approvals.map(toolApproval => ({
      ...toolApproval,
      state: 'approved' as const,
      approvedFingerprint: toolApproval.heldFingerprint ?? toolApproval.approvedFingerprint,
      heldFingerprint: null,
      reason: null,
    }));
    expect(discover(await named('send', 's\u0435nd'), approved)).toMatchObject({ changes: [] });
    expect(discover(await named('send', 's\u0435nd'), approved).admitted.size).toBe(2);
  });

  it('[SEC-7] that was approved anyway is no honest name after it was gone for a while', async () => {
    const reason = { kind: 'look_alike' as const, serverId: 'other', name: 'send' };
    const approved = apply([], discover(await named('s\u0435nd'))).map(a => ({ ...a, reason }));
    const gone = apply(approved, discover([], approved));
    const back = discover(await named('s\u0435nd', 'send'), gone);
    expect(back.changes).toMatchObject([
      { name: 'send', state: 'pending', reason: null },
      { name: 's\u0435nd', state: 'approved', reason },
    ]);
  });

  it('[SEC-7] stays quarantined when pending definitions are judged again', async () => {
    const offered = await named('send', 's\u0435nd');
    const approvals = apply([], discover(offered, [], { toolApproval: 'hold' }));
    expect(statesOf(approvals)).toEqual({ send: 'pending', 's\u0435nd': 'quarantined' });
    expect(discover(offered, approvals, { toolApproval: 'hold' })).toMatchObject({ changes: [] });
  });
});
