/**
 * Faults at seeded moments while calls of both eras run: the connector is killed, a program is killed, the gateway is restarted, the
 * connection between them is cut. Every call ends, none is executed twice, and everything recovers without help.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { createRandom, drawn, SEED, type Random } from '../../unit/seeded.ts';
import { connectPrograms, fixtureProgram, type Connected } from '../support/connected.ts';
import { BOUND_MS, count, readCounted, type Ended } from '../support/counted-calls.ts';
import { makeToken, QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { openLegacy, openModern, type RawClient } from '../support/raw-client.ts';
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts';
import { isAlive } from '../support/is-alive.ts';

/** How long after the fault everything works again, on a busy machine too, and not because a check cycle or a check was due. */
const BACK_MS = 45_000;
const GROUPS = Array.from({ length: drawn(5) }, (_, i) => i + 1);
const MOMENTS = 10;
/** The longest time from the calls to the fault, and from the fault to its end. */
const PAUSE_MS = 600;
/** How many calls each client makes to each program when the fault occurs. */
const CALLS = 2;
const programs = ['old', 'new'] as const;

type Plug = 'connector' | 'program' | 'gateway' | 'line';

const adminToken = makeToken();
let folder: string;
let port: number;
let gateway: Gateway;
let relay: TcpRelay;
let connected: Connected;
/** A client with a session and one without, which live through all faults. */
let clients: RawClient[];
let calls = 0;

const start = () => startGateway({ data: join(folder, 'data'), port, adminToken, env: QUIET });
const target = () => ({ url: `${gateway.origin}/mcp`, token: adminToken });
const logOf = (program: string) => join(folder, `${program}.log`);
const programOf = (name: string, era: string) => ({
  ...fixtureProgram('counting-stdio.ts', '--era', era),
  env: { LOG: logOf(name) },
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-plug-'));
  port = await findFreePort();
  gateway = await start();
  relay = await startTcpRelay(port);
  const offered = { old: programOf('old', 'legacy'), new: programOf('new', 'modern') };
  connected = await connectPrograms(gateway, 'plugged', offered, { url: relay.origin });
  clients = [await openLegacy(target()), openModern(target())];
});

afterAll(async () => {
  await connected?.end('SIGTERM');
  await relay?.close();
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Calls each program with each client. */
const callAll = (random: Random, times: number): Promise<Ended>[] =>
  Array.from({ length: times }, () => clients)
    .flat()
    .flatMap(client =>
      programs.map(program => {
        calls += 1;
        const ms = random.chance(0.4) ? 0 : 100 + random.below(701);
        return count(client, program, `${client.era}-${calls}`, ms);
      }),
    );

async function pull(plug: Plug, random: Random): Promise<void> {
  if (plug === 'connector') await connected.end('SIGKILL');
  if (plug === 'line') relay.cut();
  if (plug === 'gateway') await (random.chance(0.5) ? gateway.stop() : gateway.kill());
  if (plug === 'program') {
    const { pids } = await readCounted(logOf(random.pick(programs)));
    // A process of another era may have come and gone.
    const running = pids.findLast(isAlive);
    if (running === undefined) throw new Error('no program runs that could be killed');
    process.kill(running, 'SIGKILL');
  }
}

const dialsOf = ({ output }: Connected) => output().split(': connecting\n').length;

async function putBack(plug: Plug): Promise<void> {
  if (plug === 'connector') {
    const dials = dialsOf(connected);
    connected.restart();
    // Waits, as for the gateway: how long a process takes to start says nothing about what it does then.
    await until(
      'the connector runs',
      BOUND_MS,
      async () => dialsOf(connected) > dials || undefined,
    );
  }
  if (plug === 'line') relay.mend();
  if (plug === 'gateway') gateway = await start();
}

/** Waits until both programs serve new and existing clients. */
async function isBack(): Promise<void> {
  let last: Ended[] = [];
  const isServed = async () => {
    const callers = [...clients, await openLegacy(target())];
    const calling = callers.flatMap(client =>
      programs.map(program => count(client, program, `back-${(calls += 1)}`, 0)),
    );
    last = await Promise.all(calling);
    return last.every(({ kind }) => kind === 'answered') || undefined;
  };
  await until('all are served', BACK_MS, isServed).catch((error: unknown) => {
    const seen = last.map(({ why }) => why).join('\n');
    throw new Error(`${String(error)}\n${seen}\n${connected.output()}`);
  });
}

/** Causes a fault in the middle of calls, and ends it. @returns how all calls ended */
async function live(plug: Plug, random: Random): Promise<Ended[]> {
  const before = callAll(random, CALLS);
  await pass(random.below(PAUSE_MS));
  await pull(plug, random);
  const meanwhile = callAll(random, 1);
  // Soon, so that anything sent twice would arrive.
  await pass(random.below(PAUSE_MS));
  await putBack(plug);
  const after = callAll(random, 1);
  await isBack();
  return Promise.all([...before, ...meanwhile, ...after]);
}

/** Draws one restart of the gateway in ten faults, at a random position; restarts are slow. */
function drawPlugs(random: Random): Plug[] {
  const plugs: Plug[] = Array.from({ length: MOMENTS }, () =>
    random.pick(['connector', 'program', 'line']),
  );
  plugs[random.below(MOMENTS)] = 'gateway';
  return plugs;
}

describe(`[CLI-1] [UP-2] [UP-5] faults in mid-call, seed ${SEED}`, () => {
  it.each(GROUPS)(
    `group %i of ${MOMENTS} moments`,
    async group => {
      const random = createRandom(SEED + group);
      const ends: Ended[] = [];
      for (const plug of drawPlugs(random)) {
        const seen = await live(plug, random);
        const allowed = ['answered', 'refused', ...(plug === 'gateway' ? ['lost'] : [])];
        expect(seen.filter(({ kind }) => !allowed.includes(kind))).toEqual([]);
        ends.push(...seen);
      }
      const logs = await Promise.all(programs.map(program => readCounted(logOf(program))));
      const keys = logs.flatMap(log => log.keys);
      expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
      const answered = ends.filter(({ kind }) => kind === 'answered').map(({ key }) => key);
      expect(answered.filter(key => !keys.includes(key))).toEqual([]);
      // Some calls were under way.
      expect(answered.length).toBeGreaterThan(0);
      expect(answered.length).toBeLessThan(ends.length);
    },
    MOMENTS * (BOUND_MS + BACK_MS),
  );
});
