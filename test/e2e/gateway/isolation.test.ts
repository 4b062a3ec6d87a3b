/** Two upstreams are killed and one hangs: the others answer meanwhile, and the killed ones recover by themselves. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import type { FixtureName, Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway } from '../support/gateway.ts';
import type { Gateway } from '../support/gateway.ts';
import { open, resultOf, textOf } from '../support/raw-client.ts';

const SERVERS = '/api/v1/aggregator/servers';
/** Long compared with the other calls, on a busy machine too. */
const CALL_TIMEOUT_MS = 12_000;
const running = new Map<string, Upstream>();
const ids = new Map<string, string>();
let gateway: Gateway;

async function run(name: string, fixture: FixtureName, port = 0): Promise<void> {
  running.set(name, await startFixture(fixture, { port }));
}

beforeAll(async () => {
  [gateway] = await Promise.all([
    startGateway({
      env: {
        PORTICO_CALL_TIMEOUT_MS: String(CALL_TIMEOUT_MS),
        PORTICO_DISCOVERY_INTERVAL_MS: '1000',
        // More failures than occur while a server is dead here.
        PORTICO_CIRCUIT_FAILURES: '7',
      },
    }),
    run('fine', 'rich-legacy'),
    run('hung', 'faulty'),
    run('killed-legacy', 'rich-legacy'),
    run('killed-modern', 'rich-modern'),
  ]);
  for (const [name, { origin }] of running) {
    ids.set(name, (await gateway.register(name, `${origin}/mcp`)).id);
  }
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([...running.values()].map(upstream => upstream.stop()));
});

interface Health {
  checked_at: string;
  circuit: string;
  consecutive_failures: number;
}

/** Waits until its monitor found it healthy after `time`, so that no earlier failure can open its circuit. */
async function untilWell(name: string, time: number): Promise<void> {
  await until(`the monitor finds ${name} well`, 60_000, async () => {
    const { json } = await gateway.api('GET', `${SERVERS}/${ids.get(name)}`);
    const health = json['health'] as Health;
    const isWell = health.consecutive_failures === 0 && health.circuit === 'closed';
    return isWell && Date.parse(health.checked_at) > time ? true : undefined;
  });
}

const killed = ['killed-legacy', 'killed-modern'] as const;

describe.each(['legacy', 'modern'] as const)('%s client', era => {
  it('[MCP-12] [UP-3] [UP-5] a hanging and two dead upstreams disturb nobody, and the dead ones recover', async () => {
    const client = await open(era, { url: `${gateway.origin}/mcp`, token: gateway.adminToken });
    const ports = new Map<string, number>();
    for (const name of killed) {
      const answer = await client.call(`${name}.echo`, { message: 'before' });
      expect(textOf(answer)).toBe('Echo: before');
    }

    let isHanging = true;
    const hungAt = performance.now();
    const hung = client.call('hung.act', { fault: 'hang-before-headers', key: era });
    void hung.finally(() => (isHanging = false)).catch(() => undefined);
    for (const name of killed) {
      ports.set(name, running.get(name)?.port ?? 0);
      await running.get(name)?.stop();
    }

    const fine = await client.call('fine.echo', { message: 'now' });
    expect(textOf(fine)).toBe('Echo: now');
    const listed = await client.request('tools/list');
    expect(JSON.stringify(listed.message.result)).toContain('"fine.echo"');

    for (const name of killed) {
      const dead = await client.call(`${name}.echo`, { message: 'lost' });
      expect(dead.status).toBe(200);
      expect(resultOf(dead)).toMatchObject({
        isError: true,
        _meta: { 'portico/reason': 'upstream_unreachable' },
      });
      expect(textOf(dead)).toContain(name);
    }

    // None of these calls waited for the hanging one.
    expect(isHanging).toBe(true);
    expect(resultOf(await hung)._meta?.['portico/reason']).toBe('upstream_timeout');
    expect(performance.now() - hungAt).toBeGreaterThan(CALL_TIMEOUT_MS * 0.9);

    for (const name of killed) {
      await run(name, name === 'killed-legacy' ? 'rich-legacy' : 'rich-modern', ports.get(name));
      await untilWell(name, Date.now());
      await until(`${name} works again`, 60_000, async () => {
        const answer = await client.call(`${name}.echo`, { message: 'back' });
        return textOf(answer) === 'Echo: back' ? true : undefined;
      });
    }
    const again = JSON.stringify((await client.request('tools/list')).message.result);
    for (const name of killed) expect(again).toContain(`"${name}.echo"`);
  });
});
