/**
 * Explanations compared with the behaviour of lists and calls, over random registries, rules, tokens and toolsets. The gateway is called
 * with qualified names and all other servers visible; it notes the calls that would be sent.
 */
import { toCaller, type Caller } from '../../../src/access/policy/caller.ts';
import { describe, expect, it } from 'vitest';
import { explainCase, type Explained } from '../../../src/gateway/explain/explain-case.ts';
import type { Case } from '../../../src/gateway/explain/explain-steps.ts';
import type { AccessState } from '../../../src/access/policy/policy.ts';
import type { AccessRule, Subject } from '../../../src/access/policy/rule.ts';
import type { Token } from '../../../src/shared/identity/principal.ts';
import type { Toolset } from '../../../src/access/policy/toolset.ts';
import { EMPTY_CATALOG, parseCatalog, type Catalog } from '../../../src/servers/catalog/catalog.ts';
import { createTrial } from '../../../src/gateway/explain/dry-run.ts';
import { restrictToCaller } from '../../../src/gateway/steps/restrict.ts';
import { viewerOf } from '../../../src/mcp/endpoint.ts';
import type { ApprovalState } from '../../../src/servers/registry/approval.ts';
import { isOffered, ServerStatusSchema } from '../../../src/servers/registry/status.ts';
import type { Server } from '../../../src/servers/registry/server-schema.ts';
import { refuseWithout } from '../../../src/upstream/endpoint.ts';
import { createRecord, createFakeGateway } from './fakes.ts';
import { createRandom, drawn, SEED, type Random } from '../seeded.ts';

const NOW = 1_000;
const NAMES = ['alpha', 'beta', 'gamma'];
const TOOLS = ['read', 'write', 'drop'];
const HELD: ApprovalState[] = ['pending', 'changed', 'quarantined', 'rejected'];

interface World {
  servers: Server[];
  state: AccessState;
  token: Token;
  approvals: Map<string, ApprovalState>;
  catalogOf(server: Server): Catalog;
}

const some = <T>(random: Random, items: readonly T[]): T[] =>
  items.filter(() => random.below(2) === 0);
const pattern = (random: Random) =>
  `${random.pick(['*', 'alpha', 'beta', 'id-gamma', 'a*'])}${random.pick(['', '.*', '.read', '.*r*', '.drop'])}`;

function makeRule(random: Random, id: number): AccessRule {
  const subject = random.pick<Subject>([
    { kind: 'everyone' },
    { kind: 'everyone' },
    { kind: 'group', name: random.pick(['dev', 'ops']) },
    { kind: 'principal', id: random.pick(['ada', 'bob']) },
  ]);
  return {
    id: `r${id}`,
    effect: random.pick(['allow', 'deny']),
    subject,
    server: random.pick(['*', '*', 'alpha', 'id-beta', 'g*']),
    tool: random.pick(['*', 'read', 'write', '*r*', 'd*']),
    readOnly: random.below(4) === 0,
  };
}

function makeWorld(random: Random): World {
  const catalogs = new Map<string, Catalog>();
  const approvals = new Map<string, ApprovalState>();
  const servers = NAMES.map(name => {
    const status = random.pick(['CONNECTED', 'CONNECTED', ...ServerStatusSchema.options] as const);
    const circuitRetryAt = random.below(5) === 0 ? NOW + 500 : null;
    const lack = random.below(5) === 0 ? ({ needsAccount: true } as const) : {};
    const tools = TOOLS.filter(tool => {
      const fate = random.below(5);
      if (fate === 0) approvals.set(`${name} ${tool}`, random.pick(HELD));
      return fate > 1;
    }).map(tool => {
      const annotations = { readOnlyHint: random.below(2) === 0 };
      return { name: tool, inputSchema: {}, annotations };
    });
    const text = JSON.stringify({ tools, capabilities: { tools: {} } });
    catalogs.set(name, parseCatalog(`hash-${name}-${random.below(2 ** 30)}`, text));
    const catalogHash = catalogs.get(name)?.hash ?? null;
    return createRecord(name, { status, circuitRetryAt, catalogHash, ...lack });
  });
  const toolsets = ['one', 'two'].map((name): Toolset => {
    const members = random.below(3) === 0 ? { principals: ['bob'], groups: ['ops'] } : undefined;
    const include = [pattern(random), pattern(random)];
    const exclude = random.below(2) === 0 ? [pattern(random)] : [];
    const definition = { include, exclude, overrides: [], ...(members ? { members } : {}) };
    return { id: `id-${name}`, name, description: '', definition };
  });
  const rules = Array.from({ length: random.below(6) }, (_, i) => makeRule(random, i));
  const limit = <T>(make: () => T): T | null => (random.below(4) === 0 ? make() : null);
  const scopes = random.pick<Token['scopes']>([
    ['tools:read', 'tools:call'],
    ['tools:read', 'tools:call'],
    ['tools:read'],
    ['tools:call'],
    ['admin'],
    ['servers:read'],
  ]);
  const token: Token = {
    id: 't',
    principalId: random.pick(['ada', 'bob']),
    name: 't',
    groups: some(random, ['dev', 'ops']),
    servers: limit(() => some(random, servers).map(({ id }) => id)),
    tools: limit(() => [pattern(random)]),
    toolsets: limit(() => some(random, ['id-one', 'id-two'])),
    scopes,
    grantedScopes: scopes,
    createdAt: 0,
    expiresAt: null,
    lastUsedAt: null,
    audience: null,
    accounts: [],
  };
  return {
    servers,
    state: { defaultAccess: random.pick(['open', 'closed']), rules, toolsets },
    token,
    approvals,
    catalogOf: ({ name, status }) =>
      isOffered(status) ? (catalogs.get(name) ?? EMPTY_CATALOG) : EMPTY_CATALOG,
  };
}

/** What lists and calls do with a tool at an endpoint with the whole registry, or with one toolset. */
async function reallyDo(world: World, caller: Caller, { server, tool, toolset }: Case) {
  const left: string[] = [];
  const gateway = createFakeGateway({
    catalogOf: world.catalogOf,
    async send(at, _request, name) {
      refuseWithout(at);
      left.push(`${at.name}.${name}`);
      return { response: { kind: 'response', result: '{}', parsed: {} } };
    },
  });
  const endpoint = {
    origin: 'https://portico.example.com',
    path: '/mcp',
    ...(toolset ? { toolsetName: toolset.name } : {}),
  };
  const seen = restrictToCaller(caller, { servers: world.servers });
  const view = { caller, visible: seen };
  const viewer = viewerOf(endpoint, view, { nameStyle: 'dot', tools: 'all' });
  if (!viewer) return { isListed: false, isCalled: false };
  const name = `${server.name}.${tool}`;
  const listed = await gateway.list(viewer, 'tools').catch(() => ({ items: [] }));
  const request = {
    method: 'tools/call',
    reference: { kind: 'tool', name },
    params: new Map([['arguments', '{}']]),
  } as const;
  const context = {
    signal: new AbortController().signal,
    owner: () => '',
    waitUntil: () => undefined,
    capabilities: {},
    questions: 'ask',
  } as const;
  await gateway.request(viewer, request, context).catch(() => undefined);
  expect(left.every(call => call === name)).toBe(true);
  return { isListed: listed.items.some(item => item.name === name), isCalled: left.length > 0 };
}

function caseOf(world: World, server: Server, tool: string, toolset: Toolset | undefined): Case {
  const caller = toCaller(world.token, world.state);
  const approvalState = world.approvals.get(`${server.name} ${tool}`);
  return { caller, isExpired: false, server, tool, item: undefined, approvalState, toolset };
}

const explain = (world: World, given: Case): Promise<Explained> => {
  const { catalogOf } = world;
  const now = () => NOW;
  return explainCase(given, { catalogOf, now, tryTool: createTrial({ catalogOf }) });
};

/** The same world with some rules inverted or removed. */
function changed(world: World, ids: readonly string[], how: 'turned' | 'gone'): World {
  const rules = world.state.rules.flatMap((rule): AccessRule[] => {
    if (!ids.includes(rule.id)) return [rule];
    const effect = rule.effect === 'allow' ? 'deny' : 'allow';
    return how === 'gone' ? [] : [{ ...rule, effect }];
  });
  return { ...world, state: { ...world.state, rules } };
}

/** The step that decides by rules, or by default access. */
const rulingOf = ({ steps }: Explained) =>
  steps.find(({ step }) => step === 'rule' || step === 'posture');

async function check(world: World, server: Server, tool: string, toolset: Toolset | undefined) {
  const given = caseOf(world, server, tool, toolset);
  const found = await explain(world, given);
  const real = await reallyDo(world, given.caller, given);
  const told = { isListed: found.isListed, isCalled: found.isAllowed };
  expect({ told, found }).toEqual({ told: real, found });
  // The steps agree: a call is refused if one of its steps does not pass, and by that one.
  const ofCall = found.steps.filter(({ step }) => step !== 'scope_list');
  const refusing = ofCall.filter(({ passes }) => passes === false);
  expect({ refused: !found.isAllowed, found }).toEqual({ refused: refusing.length > 0, found });
  const unlisted = found.steps.find(({ step, passes }) => step === 'scope_list' && !passes);
  expect(found.decided).toEqual(refusing[0] ?? unlisted ?? rulingOf(found));
  const held = given.approvalState !== undefined;
  expect(refusing.some(({ step }) => step === 'approval')).toBe(held);
  const ruling = rulingOf(found);
  if (ruling?.step !== 'rule' || ruling.passes === null) return refusing;
  // Inverted, the named rules decide the other way, and alone if nothing else refuses.
  const turned = changed(world, ruling.ruleIds, 'turned');
  const after = await explain(turned, caseOf(turned, server, tool, toolset));
  expect(rulingOf(after)?.passes).not.toBe(ruling.passes);
  const isAlone = refusing.every(({ step }) => step === 'rule');
  expect(after.isAllowed).toBe(isAlone !== found.isAllowed);
  // For a tool that does not exist, the other rules determine whether these decide.
  if (found.isReadOnly === undefined) return refusing;
  // Without them another rule or none decides; each of them alone at its place gives the same result.
  const gone = changed(world, ruling.ruleIds, 'gone');
  const without = rulingOf(await explain(gone, caseOf(gone, server, tool, toolset)));
  expect(without?.ruleIds.some(id => ruling.ruleIds.includes(id))).toBe(false);
  for (const id of ruling.ruleIds) {
    const others = changed(
      world,
      ruling.ruleIds.filter(other => other !== id),
      'gone',
    );
    const alone = rulingOf(await explain(others, caseOf(others, server, tool, toolset)));
    expect(alone).toMatchObject({ passes: ruling.passes, ruleIds: [id] });
  }
  return refusing;
}

describe(`an explanation, seed ${SEED}`, () => {
  it('[ACC-3] matches what lists and calls do, and names what decides', async () => {
    const random = createRandom(SEED);
    const seen = new Set<string>();
    for (let i = drawn(5_000); i > 0; i -= 1) {
      const world = makeWorld(random);
      const toolset = random.pick([undefined, undefined, ...world.state.toolsets]);
      const refusing = await check(world, random.pick(world.servers), random.pick(TOOLS), toolset);
      for (const { step } of refusing) seen.add(step);
    }
    // Each kind of refusal occurred.
    expect([...seen].toSorted()).toEqual(
      [
        'account',
        'approval',
        'catalog',
        'circuit',
        'posture',
        'rule',
        'scope_call',
        'server_status',
        'token_servers',
        'token_tools',
        'token_toolsets',
        'toolset',
      ].toSorted(),
    );
  });

  it('[ACC-1] [ACC-3] for an expired token says that it has expired', async () => {
    const random = createRandom(1);
    const world = makeWorld(random);
    const [server] = world.servers;
    if (!server) throw new Error('there is none');
    const given = { ...caseOf(world, server, 'read', undefined), isExpired: true };
    const found = await explain(world, given);
    expect(found).toMatchObject({ isAllowed: false, isListed: false, code: 'unauthorized' });
    expect(found.decided.step).toBe('token_expiry');
  });
});
