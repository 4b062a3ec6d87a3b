/** How soon callers notice that a server with an open circuit is back, also after more than a minute. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startFixture, until } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';

const ERAS = ['legacy', 'modern'] as const;
/** The promised time from its return to the first answer. */
const NOTICED_MS = 2_000;
const PACE_MS = 100;
const rest = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({});
}, 300_000);

afterAll(async () => {
  await gateway?.stop();
});

/** Kills a server, keeps calling it while it is away, and restarts it. @returns milliseconds until its return was noticed */
async function noticedAfter(era: (typeof ERAS)[number], awayMs: number): Promise<number> {
  const name = `back-${era}-${awayMs}`;
  const upstream = await startFixture('moody', { era });
  await gateway.register(name, `${upstream.origin}/mcp`);
  const call = async () => {
    await rest(PACE_MS);
    const tool = { name: `${name}.act` };
    const { status, json } = await gateway.api('POST', '/api/v1/tools/call', tool);
    return status === 200 ? 'answered' : json['code'];
  };
  const untilSays = (outcome: string) =>
    until(outcome, 60_000, async () => ((await call()) === outcome ? true : undefined));
  await upstream.stop();
  await untilSays('circuit_open');
  const openedAt = performance.now();
  while (performance.now() - openedAt < awayMs) expect(await call()).toBe('circuit_open');
  const again = await startFixture('moody', { era, port: upstream.port });
  const returnedAt = performance.now();
  await untilSays('answered');
  const noticedMs = performance.now() - returnedAt;
  await again.stop();
  return noticedMs;
}

it.concurrent.each([5_000, 65_000])(
  '[UP-5] a caller that keeps calling is answered within two seconds of the return of a server after %d ms',
  async awayMs => {
    for (const ms of await Promise.all(ERAS.map(era => noticedAfter(era, awayMs)))) {
      expect(ms).toBeLessThan(NOTICED_MS);
    }
  },
  300_000,
);
