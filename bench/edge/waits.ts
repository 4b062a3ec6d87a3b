/** How much longer a call takes if stores and objects are far away: warm, after a pause, and on a new isolate. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Era } from '../exchanges.ts';
import { NEAR, startMetered, type Distances, type MeteredGateway } from './gateway.ts';

/** One line of the table; times are medians in milliseconds. */
export interface Wait {
  call: string;
  client: Era;
  server: Era;
  nearMs: number;
  farMs: number;
  /** Sequential trips to stores and objects. */
  hops: number;
}

/** Done before the measured call. */
const BEFORE: Record<
  string,
  (gateway: MeteredGateway, client: Era, server: Era) => Promise<unknown>
> = {
  warm: (gateway, client, server) => gateway.call(client, server),
  'after a pause of 3 s': () => sleep(3_000),
  'on a new isolate': gateway => gateway.forget(),
};

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** @param rounds of each measurement, near and far in turn */
export async function measureWaits(
  rounds: number,
  distances: Distances,
  say: (line: string) => void,
): Promise<Wait[]> {
  const gateway = await startMetered();
  try {
    const waits: Wait[] = [];
    for (const [call, prepare] of Object.entries(BEFORE)) {
      for (const era of ['modern', 'legacy'] as const) {
        say(`${era}, ${call}`);
        const measure = async (away: Distances): Promise<number> => {
          await gateway.setDistances(away);
          await gateway.call(era, era);
          await prepare(gateway, era, era);
          await gateway.takeCounts();
          return gateway.call(era, era);
        };
        const [near, far, hops]: [number[], number[], number[]] = [[], [], []];
        for (let round = 0; round < rounds; round += 1) {
          near.push(await measure(NEAR));
          far.push(await measure(distances));
          hops.push((await gateway.takeCounts())['hops'] ?? 0);
        }
        const found = { nearMs: median(near), farMs: median(far), hops: median(hops) };
        waits.push({ call, client: era, server: era, ...found });
      }
    }
    return waits;
  } finally {
    await gateway.stop();
  }
}
