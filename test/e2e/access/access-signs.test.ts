/**
 * Side channels that could reveal what a caller may not see: notifications, event ids, cursors, timing. And changes by an administrator:
 * they take effect within a second, and the open streams that they concern are notified.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { lastUnaware } from '../support/revocation.ts';
import { hear } from '../support/sse-reader.ts';
import type { Heard } from '../support/sse-reader.ts';
import { listAllTools, open } from '../support/raw-client.ts';
import type { Era } from '../support/raw-client.ts';
import { create, startTeam } from '../support/team.ts';
import type { Person, Team } from '../support/team.ts';
import { CASES, letTeamIn, WAYS, type PersonOf } from '../support/ways-in.ts';

const TOOLS = 'notifications/tools/list_changed';
const BITES_WITHIN_MS = 1_000;
const eras: Era[] = ['legacy', 'modern'];
const both = eras.flatMap(era => WAYS.map(way => ({ era, way })));

let team: Team;
let personOf: PersonOf;
const heard: Heard[] = [];

beforeAll(async () => {
  team = await startTeam();
  personOf = await letTeamIn(team);
});
afterEach(() => heard.splice(0).forEach(stream => stream.close()));
afterAll(() => team?.stop());

const targetOf = (token: string) => ({ url: `${team.gateway.origin}/mcp`, token });

async function listen(era: Era, token: string): Promise<Heard> {
  const stream = await hear(era, targetOf(token));
  heard.push(stream);
  return stream;
}

const told = (what: string, streams: readonly Heard[], count: number) =>
  until(what, 60_000, async () =>
    streams.every(stream => stream.methods().length >= count) ? true : undefined,
  );

describe('notifications', { timeout: 300_000 }, () => {
  it.each(eras)(
    '[ACC-3] [MCP-4] of a changed tool reach only the people who see it: %s',
    async era => {
      const streams = new Map<Person, Heard>();
      for (const { name, way } of CASES) {
        const person = personOf(name, way);
        streams.set(person, await listen(era, person.token));
      }
      const sees = (person: Person) => person.mayUse('alpha', 'write_00');
      const seeing = [...streams].filter(([person]) => sees(person)).map(([, stream]) => stream);
      expect(seeing.length).toBeGreaterThan(1);
      expect(seeing.length).toBeLessThan(streams.size);
      await team.upstreams.alpha.counters('?edit=write_00');
      await told('those who see it are told', seeing, 1);
      await team.upstreams.alpha.counters('?edit=read_00');
      await told('all are told', seeing, 2);
      await told('all are told', [...streams.values()], 1);
      for (const [person, stream] of streams) {
        const wanted = sees(person) ? [TOOLS, TOOLS] : [TOOLS];
        expect([person.name, ...stream.methods()]).toEqual([person.name, ...wanted]);
        // A gap in the event numbers would reveal a notification that was left out.
        const numbers = stream.ids().map(id => Number(id.split('.')[1]));
        const counted = era === 'legacy' ? [0, ...wanted.map((_, i) => i + 1)] : [];
        expect([person.name, ...numbers]).toEqual([person.name, ...counted]);
      }
    },
  );
});

describe('a cursor', () => {
  it.each(both)(
    '[ACC-3] of one person shows another person only tools of their own list: $era, by $way',
    async ({ era, way }) => {
      const anybody = await open(era, targetOf(personOf('anybody', way).token));
      const { result } = (await anybody.request('tools/list')).message;
      const cursor = String(result?.['nextCursor']);
      const triage = await open(era, targetOf(personOf('triage', way).token));
      const own = new Set((await listAllTools(triage)).map(({ name }) => name));
      const answer = (await triage.request('tools/list', { cursor })).message.result;
      const shown = (answer?.['tools'] ?? []) as { name: string }[];
      expect(shown.filter(({ name }) => !own.has(name))).toEqual([]);
    },
  );
});

describe('response time', { timeout: 300_000 }, () => {
  const PAIRS = 1_000;
  const MAX_MEDIAN_MS = 1;

  it.each(both)(
    '[ACC-3] [MCP-9] is the same for a hidden tool as for an unknown one: $era, by $way',
    async ({ era, way }) => {
      const client = await open(era, targetOf(personOf('some tools', way).token));
      const timed = async (name: string) => {
        const startedAt = performance.now();
        await client.call(name, {}, 7);
        return performance.now() - startedAt;
      };
      const differences: number[] = [];
      for (let pair = 0; pair < PAIRS; pair += 1) {
        // Alternates the order, because the first call of a pair might be slower.
        const first = await timed(pair % 2 ? 'beta.write_01' : 'beta.gone__01');
        const second = await timed(pair % 2 ? 'beta.gone__01' : 'beta.write_01');
        differences.push(pair % 2 ? first - second : second - first);
      }
      const sorted = differences.toSorted((a, b) => a - b);
      const [low = Infinity, high = Infinity] = sorted.slice(PAIRS / 2 - 1);
      const median = (low + high) / 2;
      expect(Math.abs(median)).toBeLessThan(MAX_MEDIAN_MS);
    },
  );
});

describe('a change by an administrator', { timeout: 300_000 }, () => {
  const api = (method: string, path: string, body?: unknown) =>
    team.gateway.api(method, path, body);

  /** Makes a change and waits until requests see it; returns when the last request that did not see it was sent. */
  async function biting(act: () => Promise<unknown>, isDone: () => Promise<boolean>) {
    await act();
    return lastUnaware(isDone);
  }

  it.each(eras)(
    '[ACC-3] [REG-3] of rules, toolsets and servers takes effect within a second and notifies open streams: %s',
    async era => {
      const { id, token } = await team.gateway.createToken({ name: `changed-${era}` });
      const { json } = await api('GET', `/api/v1/tokens/${id}`);
      const principal = String(json['principal']);
      const client = await open(era, targetOf(token));
      const [own, other] = [await listen(era, token), await listen(era, personOf('anybody').token)];
      const count = async () => (await listAllTools(client)).length;
      expect(await count()).toBe(200);
      const subject = { kind: 'principal', id: principal };
      const rule = { effect: 'deny', subject, server: 'beta', tool: 'write_*' };
      let path = '';
      const denied = await biting(
        async () => {
          path = `/api/v1/access/rules/${String((await create(team.gateway, '/api/v1/access/rules', rule))['id'])}`;
        },
        async () => (await count()) === 150,
      );
      expect(denied).toBeLessThan(BITES_WITHIN_MS);
      expect((await client.call('beta.write_00')).message.error?.message).toContain('not found');
      await told('its own stream is told', [own], 1);
      const allowed = await biting(
        () => api('DELETE', path),
        async () => (await count()) === 200,
      );
      expect(allowed).toBeLessThan(BITES_WITHIN_MS);
      await told('its own stream is told', [own], 2);
      expect([own.methods(), other.methods()]).toEqual([[TOOLS, TOOLS], []]);
      const gone = await biting(
        () => api('POST', `/api/v1/aggregator/servers/${team.serverIds.beta}/disconnect`),
        async () => (await count()) === 100,
      );
      expect(gone).toBeLessThan(BITES_WITHIN_MS);
      const lists = 3;
      await told('both are told', [own], 2 + lists);
      await told('both are told', [other], lists);
      await api('POST', `/api/v1/aggregator/servers/${team.serverIds.beta}/connect`);
      await until('it is back', 60_000, async () => ((await count()) === 200 ? true : undefined));
      await told('both are told that it is back', [other], 2 * lists);
    },
  );

  it.each(eras)('[ACC-1] that revokes a token ends its streams and requests: %s', async era => {
    const { id, token } = await team.gateway.createToken({ name: `revoked-${era}` });
    const client = await open(era, targetOf(token));
    const [own, other] = [await listen(era, token), await listen(era, personOf('anybody').token)];
    const refused = await biting(
      () => api('DELETE', `/api/v1/tokens/${id}`),
      async () => (await client.request('tools/list')).status === 401,
    );
    expect(refused).toBeLessThan(BITES_WITHIN_MS);
    await until('its stream ends', 60_000, async () => own.isOver() || undefined);
    expect([own.methods(), other.methods(), other.isOver()]).toEqual([[], [], false]);
  });
});
