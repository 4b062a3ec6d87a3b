/**
 * Refreshes data when the gateway announces a change; without announcements, polls. A visible tab has one event stream, a hidden one none.
 */
import type { ChangeEvent } from '../generated/types.gen.ts';

/** Polling interval without and with announcements, in milliseconds. */
export const LIVE_MS = 5_000;
export const TOLD_MS = 60_000;
/** Delay before a stream is reopened; it doubles after each failure. */
const AGAIN_MS = 1_000;
const MAX_AGAIN_MS = 60_000;
/** The stream starts after the first paint. */
const FIRST_MS = 1_000;

type Kind = ChangeEvent['changed'][number];
const EXPLAIN = ['explain'];

/**
 * Query keys to refresh for each kind of change. For access only lists: a single rule may be gone, and its editor reads it again before
 * saving.
 */
const QUERIES: Readonly<Record<Kind, readonly string[][]>> = {
  servers: [['servers'], ['approvals'], ['tools'], EXPLAIN],
  access: [['rules', 'list'], ['toolsets', 'list'], ['budgets'], EXPLAIN],
};
const KINDS = Object.keys(QUERIES) as Kind[];

export interface LivePorts {
  /** Refreshes the data under a query key. */
  cache: { invalidateQueries(filters: { queryKey: readonly string[] }): unknown };
  /** Tells whether the page is visible. */
  page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & {
    readonly hidden: boolean;
  };
  /** Receives the gateway's events until the stream ends. */
  listen(signal: AbortSignal, hear: (type: string, data: unknown) => void): Promise<void>;
}

let isTold = false;

/** Polling interval for data whose changes are announced. */
export const liveMs = (): number => (isTold ? TOLD_MS : LIVE_MS);

/** Listens for changes until the returned function is called. */
export function beginLive({ cache, page, listen }: LivePorts): () => void {
  let stream: AbortController | undefined;
  let timer = 0;
  let again = AGAIN_MS;
  const ask = (kinds: readonly Kind[]) => {
    for (const queryKey of new Set(kinds.flatMap(kind => QUERIES[kind]))) {
      void cache.invalidateQueries({ queryKey });
    }
  };
  const hear = (type: string, data: unknown) => {
    if (type === 'changed') ask((data as ChangeEvent).changed);
    if (type !== 'watching') return;
    isTold = true;
    again = AGAIN_MS;
    // Earlier changes were not announced.
    ask(KINDS);
  };
  async function begin(): Promise<void> {
    const own = new AbortController();
    stream = own;
    await listen(own.signal, hear).catch(() => {});
    if (stream !== own) return;
    const wasTold = isTold;
    isTold = false;
    // This refresh also makes the queries use the new polling interval.
    if (wasTold) ask(KINDS);
    timer = setTimeout(() => void begin(), again) as unknown as number;
    again = Math.min(again * 2, MAX_AGAIN_MS);
  }
  function end(): void {
    clearTimeout(timer);
    const ended = stream;
    stream = undefined;
    isTold = false;
    ended?.abort();
  }
  const look = (ms: number) => {
    end();
    if (!page.hidden) timer = setTimeout(() => void begin(), ms) as unknown as number;
  };
  const onSeen = () => look(0);
  page.addEventListener('visibilitychange', onSeen);
  look(FIRST_MS);
  return () => {
    page.removeEventListener('visibilitychange', onSeen);
    end();
  };
}
