/**
 * A crash and return of the upstream as a client of a gateway sees it: the error of a call meanwhile, the time from the return to the first
 * good call, and whether that call used the same session.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectClient, type BenchClient } from './client.ts';
import { withHome } from './fidelity.ts';
import type { Endpoint, Gateway } from './gateway.ts';
import { startWide } from './upstreams.ts';

/** How a gateway recovered. */
export interface Recovery {
  /** The error of a call while the upstream was gone. */
  told: string;
  /** From the upstream's return to the first good call; undefined where there was none. */
  tookMs: number | undefined;
  /** Which client made that call: the former one, or one that connected anew. */
  by: 'same session' | 'new session' | 'none';
}

const SAME_MS = 12_000;
const NEW_MS = 8_000;
const REST_MS = 100;
const TOLD_CHARS = 100;

async function echo(client: BenchClient, tool: string): Promise<void> {
  const { content, isError } = await client.call(tool, { message: 'here' });
  const said = (content as { text?: string }[])[0]?.text ?? '';
  if (isError === true || said !== 'here') throw new Error(said);
}

/** Retries until it succeeds; returns whether it did in time. */
async function retry(attempt: () => Promise<void>, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (performance.now() < end) {
    const isGood = await attempt().then(
      () => true,
      () => false,
    );
    if (isGood) return true;
    await sleep(REST_MS);
  }
  return false;
}

async function echoAnew(endpoint: Endpoint, tool: string): Promise<void> {
  const client = await connectClient(endpoint, 'legacy');
  try {
    await echo(client, tool);
  } finally {
    await client.close().catch(() => undefined);
  }
}

/** Without a gateway, measures the SDK's client itself. Undefined for a gateway that runs the upstream as its own process. */
export async function measureRecovery(gateway: Gateway | undefined): Promise<Recovery | undefined> {
  if (gateway?.reaches === 'stdio') return undefined;
  return withHome(async home => {
    const { upstreams, stop } = await startWide();
    const [part] = upstreams.parts(1, 1);
    if (!part) throw new Error('no upstream');
    const started = await gateway?.start([part], home);
    const endpoint: Endpoint = started?.endpoint ?? { transport: 'http', url: part.url };
    try {
      const client = await connectClient(endpoint, 'legacy');
      const tool =
        (await client.list('tools')).find(({ name }) => name.endsWith('echo'))?.name ?? '';
      await echo(client, tool);
      await upstreams.crash();
      const told = await echo(client, tool).then(
        () => 'nothing: it was answered',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      await upstreams.restart();
      const back = performance.now();
      const isSame = await retry(() => echo(client, tool), SAME_MS);
      const isGood = isSame || (await retry(() => echoAnew(endpoint, tool), NEW_MS));
      await client.close().catch(() => undefined);
      return {
        told: told.replaceAll(/\s+/gu, ' ').slice(0, TOLD_CHARS),
        tookMs: isGood ? performance.now() - back : undefined,
        by: isSame ? 'same session' : isGood ? 'new session' : 'none',
      };
    } finally {
      await started?.stop();
      await stop();
    }
  });
}
