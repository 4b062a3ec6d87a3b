/**
 * The guard on random plans, compared with an independent oracle that checks each condition over the whole case. Cases are good plans with
 * some faults inserted, so that every refusal and every pair of refusals occurs.
 */
import { describe, expect, it } from 'vitest';
import type { AllowEntry } from '../../../src/agents/ask/allow-list.ts';
import {
  decidePlan,
  type AskBudget,
  type GuardedTool,
} from '../../../src/agents/ask/request-guard.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';

const SERVERS = [
  { id: 'id-documents', name: 'documents' },
  { id: 'id-tickets', name: 'Tickets' },
];
const OWN = ['search', 'fetch', 'delete', 'get_all', '*'];
const CASES = 1_000;

/** The schema of every tool in this file: an id and an optional count. */
const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'string', pattern: '^[a-z]+-[0-9]+$' }, count: { type: 'integer' } },
  required: ['id'],
  additionalProperties: false,
};
const BROKEN = [{ type: 'strnig' }, { $ref: '#/nowhere' }, { $dynamicRef: '#a' }, 'no schema', []];

interface Case {
  text: string;
  tools: GuardedTool[];
  entries: AllowEntry[];
  spent: AskBudget;
  most: AskBudget;
}

function createEntries(random: Random): AllowEntry[] {
  return Array.from({ length: random.below(4) }, () => ({
    server: random.pick(['*', 'doc*', 'TICKETS*', 'id-documents', 'id-tickets', 'documents', 'x*']),
    tool: random.pick(['*', 'search', 'fetch', 'delete', 'get_*', '*e*']),
    sideEffects: random.chance(0.4),
  }));
}

function createText(random: Random, tools: readonly GuardedTool[]): string {
  const known = tools.length > 0 && random.chance(0.85) ? random.pick(tools) : undefined;
  const args = random.pick<unknown>([
    { id: 'doc-1' },
    { id: 'doc-1', count: 3 },
    { id: 'a-0', count: -1 },
    { id: 'DOC-1' },
    { id: 'doc-1', count: 0.5 },
    { id: 'doc-1', more: true },
    {},
    [],
    'doc-1',
  ]);
  const plan = {
    type: 'call_tool',
    server: known?.server.name ?? random.pick(['documents', 'id-documents', 'hidden', '']),
    tool: known?.tool ?? random.pick(['search', 'secret', '']),
    args: random.chance(0.7) ? { id: 'doc-1' } : args,
  };
  const text = JSON.stringify(plan);
  if (random.chance(0.75)) return random.chance(0.2) ? ` ${JSON.stringify(plan, null, 2)}\n` : text;
  return random.pick([
    `Sure! ${text}`,
    `\`\`\`json\n${text}\n\`\`\``,
    `${text}${text}`,
    JSON.stringify([plan]),
    JSON.stringify({ ...plan, also: 1 }),
    JSON.stringify({ ...plan, type: 'call' }),
    text.replace('"tool":', '"tool":"search","tool":'),
    text.replace('"args":{', '"args":{"__proto__":{},'),
    text.slice(0, -1),
    '',
    'null',
    JSON.stringify({ type: 'none', reason: 'nothing fits' }),
    JSON.stringify({ type: 'none' }),
    JSON.stringify({ ...plan, args: { id: 'd'.repeat(20_000) } }),
    JSON.stringify({ ...plan, args: nested(60) }),
  ]);
}

const nested = (depth: number): object => (depth === 0 ? {} : { id: nested(depth - 1) });

function createCase(random: Random): Case {
  const tools = SERVERS.flatMap(server =>
    OWN.filter(() => random.chance(0.6)).map(tool => ({
      server,
      tool,
      inputSchema: random.chance(0.92) ? SCHEMA : random.pick<unknown>(BROKEN),
      isReadOnly: random.chance(0.5),
    })),
  );
  const most = { calls: 1, questions: 2, tokens: 1_000, elapsedMs: 5_000 };
  const spent = {
    calls: random.chance(0.05) ? 1 : 0,
    questions: random.pick([1, 1, 1, 1, 2, 3]),
    tokens: random.pick([0, 500, 1_000, 1_000, 1_001]),
    elapsedMs: random.pick([0, 10, 4_999, 5_000, 5_000, 5_001]),
  };
  return { text: createText(random, tools), tools, entries: createEntries(random), spent, most };
}

/** Matches `*` to any characters, implemented independently by splitting. */
function isLike(pattern: string, text: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return pattern === text;
  if (!text.startsWith(head)) return false;
  const tail = rest.pop() ?? '';
  let at = head.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - tail.length >= at && text.endsWith(tail);
}

interface Written {
  type?: unknown;
  server?: unknown;
  tool?: unknown;
  args?: Record<string, unknown>;
}

/** Every condition that the call violates, in no order. */
function faultsOf({ text, tools, entries, spent, most }: Case): string[] {
  let plan: Written = {};
  try {
    plan = JSON.parse(text) as Written;
  } catch {
    return ['parse'];
  }
  const names = typeof plan === 'object' && plan !== null ? Object.keys(plan).toSorted() : [];
  const isForm =
    names.join() === 'args,server,tool,type' &&
    plan.type === 'call_tool' &&
    plan.server !== '' &&
    plan.tool !== '' &&
    typeof plan.args === 'object' &&
    !Array.isArray(plan.args);
  const isTwice = (text.match(/"tool":/g) ?? []).length > 1;
  const isOdd = text.includes('__proto__') || text.length > 16_384 || text.includes('{"id":{"id":');
  if (!isForm || isTwice || isOdd) return ['parse'];
  const faults: string[] = [];
  const tool = tools.find(
    ({ server, tool: own }) => server.name === plan.server && own === plan.tool,
  );
  if (!tool) return ['tool'];
  const { id, count, ...more } = plan.args ?? {};
  const fits =
    tool.inputSchema === SCHEMA &&
    typeof id === 'string' &&
    /^[a-z]+-[0-9]+$/.test(id) &&
    (count === undefined || Number.isInteger(count)) &&
    Object.keys(more).length === 0;
  if (!fits) faults.push('schema');
  const isServer = (pattern: string) =>
    pattern === tool.server.id || isLike(pattern.toLowerCase(), tool.server.name.toLowerCase());
  const holding = entries.filter(entry => isServer(entry.server) && isLike(entry.tool, tool.tool));
  if (holding.length === 0) faults.push('allowlist');
  const isNamed = entries.some(
    entry =>
      entry.sideEffects &&
      entry.server === tool.server.id &&
      entry.tool === tool.tool &&
      !entry.tool.includes('*'),
  );
  if (!tool.isReadOnly && !isNamed) faults.push('side_effects');
  const isOver =
    spent.calls >= most.calls ||
    spent.questions > most.questions ||
    spent.tokens > most.tokens ||
    spent.elapsedMs > most.elapsedMs;
  if (isOver) faults.push('budget');
  return faults;
}

const ORDER = ['parse', 'tool', 'schema', 'allowlist', 'side_effects', 'budget'];

function judge(each: Case) {
  const find = (server: string, name: string) =>
    each.tools.find(({ server: { name: own }, tool }) => own === server && tool === name);
  return decidePlan(each.text, { ...each, find });
}

describe('the guard', () => {
  it(`[LLM-4] allows of ${CASES} random plans those that meet every condition, and refuses the others by the first (seed ${SEED})`, () => {
    const random = createRandom();
    const seen = new Map<string, number>();
    const wrong: object[] = [];
    for (let i = 0; i < CASES; i += 1) {
      const each = createCase(random);
      const verdict = judge(each);
      const faults = faultsOf(each);
      const isNone = each.text === '{"type":"none","reason":"nothing fits"}';
      const first = ORDER.find(stage => faults.includes(stage));
      const wanted = isNone ? 'no_tool' : (first ?? 'allowed');
      const got = verdict.decision === 'refused' ? verdict.stage : verdict.decision;
      if (got !== wanted) wrong.push({ i, got, wanted, faults, text: each.text });
      seen.set(wanted, (seen.get(wanted) ?? 0) + 1);
    }
    expect(wrong).toEqual([]);
    // Each outcome occurred often enough to mean something.
    const rare = [...ORDER, 'allowed', 'no_tool'].filter(stage => (seen.get(stage) ?? 0) < 4);
    expect(rare).toEqual([]);
  });

  const good: Case = {
    text: JSON.stringify({
      type: 'call_tool',
      server: 'documents',
      tool: 'delete',
      args: { id: 'doc-1' },
    }),
    tools: [
      {
        server: SERVERS[0] ?? { id: '', name: '' },
        tool: 'delete',
        inputSchema: SCHEMA,
        isReadOnly: false,
      },
    ],
    entries: [{ server: 'id-documents', tool: 'delete', sideEffects: true }],
    spent: { calls: 0, questions: 1, tokens: 10, elapsedMs: 10 },
    most: { calls: 1, questions: 2, tokens: 1_000, elapsedMs: 5_000 },
  };

  it('[LLM-4] allows a tool that changes something by an entry that names it', () => {
    expect(judge(good).decision).toBe('allowed');
  });

  it.each<[string, AllowEntry[]]>([
    ['patterns', [{ server: '*', tool: '*', sideEffects: true }]],
    [
      'the name of the server, not its id',
      [{ server: 'documents', tool: 'delete', sideEffects: true }],
    ],
    [
      'another tool',
      [
        { server: 'id-documents', tool: 'fetch', sideEffects: true },
        { server: '*', tool: '*', sideEffects: false },
      ],
    ],
    ['no side effects', [{ server: 'id-documents', tool: 'delete', sideEffects: false }]],
  ])('[LLM-4] does not allow one by an entry with %s', (_what, entries) => {
    expect(judge({ ...good, entries })).toMatchObject({
      decision: 'refused',
      reason: 'side_effects_not_allowed',
    });
  });

  it.each<[string, Partial<Case>]>([
    ['budget_calls', { spent: { ...good.spent, calls: 1 } }],
    ['budget_questions', { spent: { ...good.spent, questions: 3 } }],
    ['budget_tokens', { spent: { ...good.spent, tokens: 1_001 } }],
    ['budget_time', { spent: { ...good.spent, elapsedMs: 5_001 } }],
  ])('[LLM-4] refuses by %s', (reason, change) => {
    expect(judge({ ...good, ...change })).toMatchObject({ stage: 'budget', reason });
  });
});
