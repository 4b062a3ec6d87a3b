/** Configuration files against a model of the API: any file can follow any other, also after an interrupted apply. */
import { describe, expect, it } from 'vitest';
import { carryOut, type Outcome } from '../../../cli/src/configuration/carry-out.ts';
import { canonical } from '../../../cli/src/configuration/content.ts';
import { exportFile } from '../../../cli/src/configuration/export-file.ts';
import { wantedOf } from '../../../cli/src/configuration/kinds.ts';
import { makePlan, type Plan, type PlanOptions } from '../../../cli/src/configuration/plan.ts';
import { readConfiguration } from '../../../cli/src/configuration/read-file.ts';
import { ConfigurationSchema, type Configuration } from '../../../src/api/configuration-file.ts';
import { createRandom, SEED, type Random } from '../seeded.ts';
import { ModelGateway } from './configuration-gateway.ts';

const CASES = 200;
const ORIGINS = ['https://a.example.com', 'https://b.example.com', 'https://c.example.com'];

const some = <T>(random: Random, items: readonly T[]): T[] =>
  items.filter(() => random.chance(0.6));

/** A random file that is consistent by itself. */
function randomFile(random: Random): Configuration {
  const secretNames = ['S1', 'S2', 'S3'];
  const origins = new Map(secretNames.map(name => [name, new Set([random.pick(ORIGINS)])]));
  const servers: Record<string, object> = {};
  for (const name of some(random, ['s1', 's2', 's3', 's4'])) {
    const origin = random.pick(ORIGINS);
    const secret = random.chance(0.6) ? random.pick(secretNames) : undefined;
    if (secret !== undefined) origins.get(secret)?.add(origin);
    const headers = secret === undefined ? {} : { headers: { 'X-Key': `\${${secret}}` } };
    servers[name] = {
      transport_type: random.pick(['HTTP', 'SSE']),
      connection_config: { url: `${origin}/${random.below(2)}`, ...headers },
      ...(random.chance(0.3) ? { tool_approval: random.pick(['first', 'trust']) } : {}),
      ...(random.chance(0.3) ? { health_check: { interval_seconds: 1 + random.below(2) } } : {}),
    };
  }
  const connectors = random.chance(0.5) ? { box: {} } : {};
  if ('box' in connectors && random.chance(0.7)) {
    servers['prog'] = {
      transport_type: 'STDIO',
      description: random.pick(['', 'a program']),
      connection_config: { connector: 'box', server: 'prog' },
    };
  }
  const used = new Set(JSON.stringify(servers).match(/S\d/g));
  const kept = secretNames.filter(name => used.has(name) || random.chance(0.3));
  const groups = () => some(random, ['g1', 'g2']);
  const people = Object.fromEntries(
    some(random, ['p1', 'p2', 'p3']).map(key => [
      key,
      { groups: groups(), ...(random.chance(0.3) ? { name: 'Same Name' } : {}) },
    ]),
  );
  const subject = () =>
    random.pick<object>([
      { kind: 'everyone' },
      { kind: 'group', name: 'g1' },
      ...Object.keys(people).map(name => ({ kind: 'principal', name })),
    ]);
  const server = () => random.pick(['*', ...Object.keys(servers)]);
  const tool = () => random.pick(['*', 'get_*', 'set_*']);
  const many = <T>(keys: readonly string[], make: () => T) =>
    Object.fromEntries(some(random, keys).map(key => [key, make()]));
  const pairs = new Set<string>();
  const cached = Object.keys(servers).length === 0 ? [] : some(random, ['c1', 'c2', 'c3']);
  const cacheRules = cached.flatMap(key => {
    const rule = { server: random.pick(Object.keys(servers)), tool: tool() };
    const pair = JSON.stringify(rule);
    if (pairs.has(pair)) return [];
    pairs.add(pair);
    return [[key, { ...rule, ttl_seconds: 1 + random.below(3) }] as const];
  });
  const limited = some<object>(random, [
    ...['g1', 'g2'].map(name => ({ kind: 'group', name })),
    ...Object.keys(people).map(name => ({ kind: 'principal', name })),
  ]);
  return ConfigurationSchema.parse({
    owner: 'mine',
    secrets: Object.fromEntries(
      kept.map(name => [
        name,
        { value: `\${env:${name}}`, origins: [...(origins.get(name) ?? [])] },
      ]),
    ),
    connectors,
    servers,
    principals: people,
    rules: many(['r1', 'r2', 'r3', 'r4'], () => ({
      effect: random.pick(['allow', 'deny']),
      subject: subject(),
      server: server(),
      tool: tool(),
    })),
    budgets: Object.fromEntries(
      some(random, ['b1', 'b2', 'b3']).flatMap((key, at) => {
        const whose = limited[at];
        return whose ? [[key, { subject: whose, calls_per_day: 1 + random.below(3) }]] : [];
      }),
    ),
    toolsets: many(['t1', 't2'], () => ({
      include: [`${server()}.get_*`],
      ...(random.chance(0.4)
        ? { members: { principals: some(random, Object.keys(people)), groups: groups() } }
        : {}),
      ...(random.chance(0.4) ? { name_style: 'colon' } : {}),
    })),
    cache_rules: Object.fromEntries(cacheRules),
    ask_allowlist: many(['e1', 'e2'], () => ({
      subject: subject(),
      server: server(),
      tool: tool(),
    })),
  });
}

const valuesOf = ({ secrets = {} }: Configuration) =>
  new Map(Object.keys(secrets).map(name => [name, `value of ${name}`]));

function planOf(gateway: ModelGateway, file: Configuration, more: Partial<PlanOptions> = {}): Plan {
  const { known, names } = gateway.see(file);
  return makePlan(wantedOf(file, names), known, { owner: file.owner, prune: true, ...more });
}

async function apply(gateway: ModelGateway, file: Configuration, more: Partial<PlanOptions> = {}) {
  const plan = planOf(gateway, file, more);
  expect(plan.problems).toEqual([]);
  const { known } = gateway.see(file);
  const values = valuesOf(file);
  const work = { api: gateway, owner: file.owner, values, known, wait: async () => {} };
  const outcomes = await carryOut(plan.changes, { ...work, onDone: () => {} });
  return { plan, failed: outcomes.filter((each: Outcome) => each.problem !== undefined) };
}

/** The records that belong to the file, as a sorted list of texts. */
function ownOf(gateway: ModelGateway, file: Configuration): string[] {
  const { known } = gateway.see(file);
  const own = known.filter(({ owner }) => owner?.owner === file.owner);
  return own.map(each => `${each.kind} ${each.owner?.key} ${canonical(each.content)}`).toSorted();
}

function textsOf(gateway: ModelGateway, file: Configuration): string[] {
  const wanted = wantedOf(file, gateway.see(file).names);
  return wanted.map(each => `${each.kind} ${each.key} ${canonical(each.content)}`).toSorted();
}

/** Creates records owned by people, which no file may touch. */
async function settle(gateway: ModelGateway): Promise<void> {
  const post = (path: string, body: object) => gateway.json('POST', path, JSON.stringify(body));
  const url = 'https://people.example.com';
  await post('/api/v1/aggregator/servers', {
    name: 'people',
    transport_type: 'HTTP',
    description: '',
    connection_config: { url },
    auto_connect: true,
  });
  await post('/api/v1/principals', { name: 'Same Name', groups: [], scopes: null });
  await post('/api/v1/access/rules', {
    effect: 'deny',
    subject: { kind: 'everyone' },
    server: 'people',
    tool: '*',
    read_only: false,
    description: '',
  });
}

const foreignOf = (gateway: ModelGateway, file: Configuration) =>
  gateway.see(file).known.filter(({ owner }) => owner === undefined);

describe('a file', () => {
  it(`[OPS-6] can follow any other, and is then fully applied (seed ${SEED})`, async () => {
    const random = createRandom();
    for (let i = 0; i < CASES; i += 1) {
      const gateway = new ModelGateway();
      await settle(gateway);
      const [a, b] = [randomFile(random), randomFile(random)];
      const people = foreignOf(gateway, a);
      for (const file of [a, b]) {
        const { failed } = await apply(gateway, file, { adopt: true });
        expect([i, failed]).toEqual([i, []]);
        expect(ownOf(gateway, file)).toEqual(textsOf(gateway, file));
        const again = planOf(gateway, file);
        expect([i, again.changes, again.left]).toEqual([i, [], []]);
      }
      const kept = foreignOf(gateway, b).map(({ content }) => canonical(content));
      const before = people.map(({ content }) => canonical(content));
      expect(before.filter(text => !text.includes('Same Name'))).toEqual(
        kept.filter(text => !text.includes('Same Name')),
      );
    }
  });

  it(`[OPS-6] is finished by a second apply, wherever the first was interrupted (seed ${SEED})`, async () => {
    const random = createRandom();
    for (let i = 0; i < CASES; i += 1) {
      const gateway = new ModelGateway();
      const [a, b] = [randomFile(random), randomFile(random)];
      await apply(gateway, a);
      const { changes } = planOf(gateway, b);
      gateway.breakAfter(random.below(changes.length + 1), random.chance(0.5));
      await apply(gateway, b);
      gateway.breakAfter(Infinity, false);
      const { failed } = await apply(gateway, b);
      expect([i, failed]).toEqual([i, []]);
      expect(ownOf(gateway, b)).toEqual(textsOf(gateway, b));
      expect(planOf(gateway, b).changes).toEqual([]);
      expect(gateway.see(b).known.filter(({ owner }) => owner === undefined)).toEqual([]);
    }
  });

  it('[OPS-6] may name a principal by key, name or id', async () => {
    const gateway = new ModelGateway();
    const make = async (name: string) => {
      const body = JSON.stringify({ name, groups: [], scopes: null });
      return (await gateway.json<{ id: string }>('POST', '/api/v1/principals', body)).id;
    };
    const [bob, eve] = [await make('Bob'), await make('Eve')];
    const subject = (name: string) => ({ kind: 'principal', name });
    const budget = (name: string) => ({ subject: subject(name), calls_per_day: 9 });
    const file = ConfigurationSchema.parse({
      owner: 'mine',
      // A key that is the name of another principal.
      principals: { ada: { name: 'Ada' }, Eve: { name: 'Evelyn' } },
      rules: { r: { effect: 'allow', subject: subject('Ada'), server: '*', tool: '*' } },
      budgets: { b: budget(bob), e: budget(eve), f: budget('Eve') },
      toolsets: { t: { include: ['*.*'], members: { principals: ['ada', bob, eve], groups: [] } } },
      ask_allowlist: { a: { subject: subject(bob), server: '*', tool: '*' } },
    });
    await apply(gateway, { owner: file.owner, principals: file.principals });
    expect((await apply(gateway, file)).failed).toEqual([]);
    expect(planOf(gateway, file).changes).toEqual([]);
    const budgets = gateway.see(file).known.filter(({ kind }) => kind === 'budget');
    expect(budgets.map(({ content }) => content['subject'])).toEqual(
      ['Eve', eve, 'Bob'].map(subject),
    );
  });

  it(`[OPS-6] is exported unchanged (seed ${SEED})`, async () => {
    const random = createRandom();
    for (let i = 0; i < CASES; i += 1) {
      const gateway = new ModelGateway();
      await settle(gateway);
      const file = randomFile(random);
      await apply(gateway, file, { adopt: true });
      const out = (from: ModelGateway) =>
        exportFile(from.see(file).known, file.owner, 'https://portico.example.com');
      const { text, leftOut } = out(gateway);
      expect(leftOut).toEqual([]);
      const { configuration, problems } = readConfiguration(text);
      expect(problems).toEqual([]);
      if (!configuration) throw new Error(text);
      const other = new ModelGateway();
      expect((await apply(other, configuration)).failed).toEqual([]);
      expect([i, out(other).text]).toEqual([i, text]);
    }
  });

  it(`[OPS-6] that is edited in one place changes one record (seed ${SEED})`, async () => {
    const random = createRandom();
    for (let i = 0; i < CASES; i += 1) {
      const gateway = new ModelGateway();
      const file = randomFile(random);
      await apply(gateway, file);
      const edited = structuredClone(file);
      const section = random.pick(['servers', 'rules', 'toolsets', 'cache_rules'] as const);
      const key = random.pick(['', ...Object.keys(edited[section] ?? {})]);
      const record = edited[section]?.[key];
      if (!record) continue;
      record.description = 'edited';
      gateway.writes.length = 0;
      expect((await apply(gateway, edited)).plan.changes).toMatchObject([{ verb: 'update', key }]);
      expect(gateway.writes).toHaveLength(1);
    }
  });
});
