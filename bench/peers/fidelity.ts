/** Which features reach a client: a client of an era checks both servers of that era, through a gateway or directly. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Era } from '../exchanges.ts';
import { connectClient, type BenchClient } from './client.ts';
import { features, type Feature, type View, type Views } from './features.ts';
import type { Endpoint, Gateway, Started, Upstream } from './gateway.ts';
import { startFeatured } from './upstreams.ts';

/** Result of a check. */
export type Outcome = 'works' | 'lost' | 'error' | 'unseen';

/** The result for each feature, and the reasons for failures. */
export interface Fidelity {
  outcomes: Outcome[];
  reasons: string[];
}

type Look = readonly [Outcome, string];

const LATE = 'no answer in time';
const FEATURE_MS = 12_000;
const AGAIN_MS = 30_000;

/** Gives a gateway a folder of its own for the duration of the work. */
export async function withHome<T>(work: (home: string) => Promise<T>): Promise<T> {
  const home = await mkdtemp(join(tmpdir(), 'portico-bench-peers-'));
  try {
    return await work(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function toOutcome(isRight: boolean | 'late' | undefined): Look {
  if (isRight === 'late') return ['error', LATE];
  if (isRight === undefined) return ['unseen', ''];
  return isRight ? ['works', ''] : ['lost', 'not the true value'];
}

async function lookOnce(views: Views, works: Feature['works'], ms: number): Promise<Look> {
  const late = sleep(ms, 'late' as const, { ref: false });
  return Promise.race([works(views), late]).then(
    toOutcome,
    (error: unknown) => ['error', error instanceof Error ? error.message : String(error)] as const,
  );
}

/** Lost or late features are checked a second time, since a busy machine may be the cause. */
async function look(views: Views): Promise<Fidelity> {
  const fidelity: Fidelity = { outcomes: [], reasons: [] };
  for (const { name, works } of features) {
    let [outcome, reason] = await lookOnce(views, works, FEATURE_MS);
    if (reason === LATE || outcome === 'lost') {
      [outcome, reason] = await lookOnce(views, works, AGAIN_MS);
    }
    fidelity.outcomes.push(outcome);
    if (reason !== '') fidelity.reasons.push(`${name}: ${reason}`);
  }
  return fidelity;
}

const toFailed = (error: unknown): Fidelity => ({
  outcomes: features.map(() => 'error'),
  reasons: [`all: ${error instanceof Error ? error.message : String(error)}`],
});

async function ownLists({ url }: Upstream, era: Era): Promise<View['own']> {
  const client = await connectClient({ transport: 'http', url }, era);
  const list = (kind: keyof View['own']) => client.list(kind).catch(() => []);
  const own = {
    tools: await list('tools'),
    prompts: await list('prompts'),
    resources: await list('resources'),
    templates: await list('templates'),
  };
  await client.close();
  return own;
}

/** Checks a gateway, or without one the servers themselves. */
export async function measureFidelity(gateway: Gateway | undefined, era: Era): Promise<Fidelity> {
  return withHome(async home => {
    const { upstreams, stop } = await startFeatured(era);
    const started: Started[] = [];
    const clients: BenchClient[] = [];
    const open = async (endpoint: Endpoint) => {
      const client = await connectClient(endpoint, era, true);
      clients.push(client);
      await client.listen().catch(() => undefined);
      return client;
    };
    const front = async (behind: Upstream[]): Promise<Endpoint> => {
      const [first] = behind;
      if (!gateway) return { transport: 'http', url: first?.url ?? '' };
      const one = await gateway.start(behind, home);
      started.push(one);
      return one.endpoint;
    };
    try {
      const { conformance, rich } = upstreams;
      const isJoined = gateway?.joins === true;
      const first = await open(await front(isJoined ? [conformance, rich] : [conformance]));
      const second = isJoined ? first : await open(await front([rich]));
      return await look({
        conformance: { client: first, own: await ownLists(conformance, era) },
        rich: { client: second, own: await ownLists(rich, era) },
      });
    } catch (error) {
      return toFailed(error);
    } finally {
      for (const client of clients) await client.close().catch(() => undefined);
      for (const one of started) await one.stop();
      await stop();
    }
  });
}
