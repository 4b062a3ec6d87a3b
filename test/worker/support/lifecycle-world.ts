/**
 * A registry under random changes: servers that are added, deleted, moved and renamed while their upstreams fail and recover and their
 * monitors lose their memory. The world knows the last change of each, and checks what a new request may see. Every draw comes from one
 * seed.
 */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, vi } from 'vitest';
import { isLegalStep, type ServerStatus } from '../../../src/servers/registry/status.ts';
import { createRandom, type Random } from '../../unit/seeded.ts';
import { FakeServer } from './fake-server.ts';
import {
  PATIENT,
  SERVERS,
  createPortico,
  modern,
  monitorOf,
  whenServer,
  type Portico,
  type RpcAnswer,
  type ServerView,
} from './portico.ts';

interface Member {
  id: string;
  name: string;
  host: string;
  /** The state after the changes so far; `open` if two concurrent ones leave it to their order. */
  wanted: 'up' | 'down' | 'gone' | 'open';
  upstream: FakeServer;
}

/** Monitors with the memory that they had when their world began: one that is idle for ten seconds loses it. */
const beginners = new WeakSet<object>();

type Act = 'connect' | 'disconnect' | 'rename' | 'move' | 'delete';

const OUTAGES = [
  () => new Response('no', { status: 503 }),
  () => new Response('who are you', { status: 401 }),
  () => Promise.reject(new TypeError('connection refused')),
  () => new Response('{', { headers: { 'content-type': 'application/json' } }),
];

function mustEqual(actual: unknown, wanted: unknown): void {
  expect(actual).toEqual(wanted);
}

/** Records every status transition, as the database sees it. */
export async function watchSteps(): Promise<void> {
  await env.DB.batch([
    env.DB.prepare('CREATE TABLE steps (server TEXT, before TEXT, after TEXT)'),
    env.DB.prepare(
      `CREATE TRIGGER note_steps AFTER UPDATE OF status ON servers
       BEGIN INSERT INTO steps VALUES (NEW.id, OLD.status, NEW.status); END`,
    ),
  ]);
}

export class LifecycleWorld {
  readonly #random: Random;
  readonly #portico: Portico = createPortico();
  readonly #members: Member[] = [];
  readonly #names: readonly string[];
  /** By the name of their host; must be served before the world begins. */
  readonly upstreams: Readonly<Record<string, FakeServer>>;
  #renames = 0;
  /** The changes so far, for the message of a failure. */
  readonly history: string[] = [];

  constructor(seed: number, prefix: string) {
    this.#random = createRandom(seed);
    this.#names = [`${prefix}a`, `${prefix}b`];
    const upstreams = this.#names.map(
      (name, i) => [name, new FakeServer({ listChanged: i === 0 })] as const,
    );
    this.upstreams = Object.fromEntries(upstreams);
  }

  /** Two servers, one of which announces changes. */
  async begin(): Promise<void> {
    for (const name of this.#names) {
      const isUp = this.#random.chance(0.7);
      const body = {
        name,
        transport_type: 'HTTP',
        connection_config: { url: `https://${name}.example.com/mcp` },
        auto_connect: isUp,
      };
      const created = await this.#portico.api('POST', SERVERS, body);
      mustEqual([name, created.status], [name, 201]);
      const { id } = await created.json<ServerView>();
      const upstream = this.upstreams[name] ?? new FakeServer();
      this.#members.push({ id, name, host: name, wanted: isUp ? 'up' : 'down', upstream });
      await runInDurableObject(monitorOf(id), monitor => void beginners.add(monitor));
    }
  }

  /** One random step, and a check of what is visible after it. */
  async step(): Promise<void> {
    const member = this.#random.pick(this.#members);
    const kind = this.#random.below(10);
    if (kind < 4) await this.#act(member, this.#pickAct());
    else if (kind < 6) await this.#actTwice(member);
    else if (kind < 8) this.#disturb(member);
    else await this.#wake(member);
    await this.#check();
  }

  #pickAct(): Act {
    if (this.#random.chance(0.08)) return 'delete';
    return this.#random.pick(['connect', 'disconnect', 'connect', 'disconnect', 'rename', 'move']);
  }

  /** @param isGone whether it was deleted before; a concurrent change may come before the deletion */
  async #act(member: Member, act: Act, isGone = member.wanted === 'gone'): Promise<number> {
    this.history.push(`${act} ${member.host}`);
    const path = `${SERVERS}/${member.id}`;
    if (act === 'connect' && !isGone) member.wanted = 'up';
    if (act === 'disconnect' && !isGone) member.wanted = 'down';
    if (act === 'delete') member.wanted = 'gone';
    const { status } = await this.#send(member, act, path);
    if (isGone) mustEqual([act, status], [act, 404]);
    else mustEqual([act, status < 500], [act, true]);
    return status;
  }

  #send(member: Member, act: Act, path: string): Promise<Response> {
    if (act === 'delete') return this.#portico.api('DELETE', path);
    if (act === 'rename') {
      member.name = `${member.host}-${(this.#renames += 1)}`;
      return this.#portico.api('PATCH', path, { name: member.name });
    }
    if (act === 'move') {
      const url = `https://${member.host}.example.com/mcp?${this.#random.below(1_000)}`;
      return this.#portico.api('PATCH', path, { connection_config: { url } });
    }
    return this.#portico.api('POST', `${path}/${act}`);
  }

  /** Two concurrent changes: in any order, and the record tells the outcome. */
  async #actTwice(member: Member): Promise<void> {
    const wasGone = member.wanted === 'gone';
    const actNow = () => this.#act(member, this.#pickAct(), wasGone);
    await Promise.all([actNow(), actNow()]);
    if (!wasGone && member.wanted !== 'gone') member.wanted = 'open';
    const response = await this.#portico.api('GET', `${SERVERS}/${member.id}`);
    if (response.status === 404) {
      member.wanted = 'gone';
      return;
    }
    const record = await response.json<ServerView>();
    member.name = record.name;
    member.wanted = record.status === 'DISCONNECTED' ? 'down' : 'up';
  }

  /** The upstream fails, recovers, or restarts without its sessions. */
  #disturb({ upstream, host }: Member): void {
    const kind = this.#random.below(3);
    this.history.push(`${['fail', 'return', 'restart'][kind]} ${host}`);
    if (kind === 0) upstream.outage = this.#random.pick(OUTAGES);
    else upstream.outage = undefined;
    if (kind === 2) upstream.sessions.clear();
  }

  /** The monitor's alarm fires, or the monitor loses its memory. */
  async #wake(member: Member): Promise<void> {
    const { id, host } = member;
    const isEviction = this.#random.chance(0.4);
    this.history.push(`${isEviction ? 'evict' : 'alarm'} ${host}`);
    // The object is loaded first, so that there is memory to lose.
    if (isEviction) await runInDurableObject(monitorOf(id), () => undefined);
    if (isEviction) await evictDurableObject(monitorOf(id));
    else await runDurableObjectAlarm(monitorOf(id));
  }

  async #tools(): Promise<string[]> {
    const { message, headers } = modern('tools/list');
    const answer = await (await this.#portico.post(message, { headers })).json<RpcAnswer>();
    return (answer.result?.tools ?? []).map(({ name }) => name);
  }

  /** No tool of a disconnected or deleted server is listed, under any of its names. */
  async #check(): Promise<void> {
    const tools = await this.#tools();
    const absent = this.#members.filter(({ wanted }) => wanted === 'down' || wanted === 'gone');
    for (const { host, wanted } of absent) {
      const seen = tools.filter(tool => tool.startsWith(host));
      mustEqual([host, wanted, seen], [host, wanted, []]);
    }
  }

  /** All upstreams recover: connected servers come back by themselves, under their names. */
  async recover(): Promise<void> {
    for (const member of this.#members) {
      member.upstream.outage = undefined;
      if (member.wanted === 'gone') continue;
      if (member.wanted === 'down') await this.#act(member, 'connect');
      await whenServer(this.#portico, member.id, ({ status }) => status === 'CONNECTED');
      mustEqual((await this.#tools()).includes(`${member.name}.echo`), true);
    }
  }

  /** Everything is deleted: no row, alarm, value, socket, catalog or stream is left. */
  async end(): Promise<void> {
    for (const member of this.#members) {
      if (member.wanted !== 'gone') await this.#act(member, 'delete');
    }
    await this.#portico.settle();
    for (const { id, upstream } of this.#members) {
      const left = await runInDurableObject(monitorOf(id), async (_monitor, state) => ({
        alarm: await state.storage.getAlarm(),
        values: [...(await state.storage.list()).keys()],
        sockets: state.getWebSockets().length,
      }));
      mustEqual(left, { alarm: null, values: [], sockets: 0 });
      mustEqual((await env.CATALOG.list({ prefix: `catalog/${id}/` })).keys, []);
      // A fake stream does not notice lost memory as a connection would.
      if (await runInDurableObject(monitorOf(id), monitor => beginners.has(monitor)))
        await vi.waitFor(() => mustEqual(upstream.isHeard, false), PATIENT);
    }
    await this.#checkRows();
  }

  async #checkRows(): Promise<void> {
    const own = JSON.stringify(this.#members.map(({ id }) => id));
    const of = (sql: string) =>
      env.DB.prepare(`${sql} IN (SELECT value FROM json_each(?))`).bind(own);
    const { results: rows } = await of('SELECT id FROM servers WHERE id').all();
    mustEqual(rows, []);
    const { results: steps } = await of('SELECT before, after FROM steps WHERE server').all<{
      before: ServerStatus;
      after: ServerStatus;
    }>();
    mustEqual(
      steps.filter(({ before, after }) => !isLegalStep(before, after)),
      [],
    );
  }
}
