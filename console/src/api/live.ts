/**
 * What changes by itself is told by the gateway while somebody looks; where nobody tells, it is asked for by the clock. One stream of a tab
 * that is seen, and none of one that is not.
 */
import type { ChangeEvent } from '../generated/types.gen.ts';

/** How often what changes by itself is asked for while nobody tells of it, and while somebody does; in milliseconds. */
export const LIVE_MS = 5_000;
export const TOLD_MS = 60_000;
/** A stream that ended is begun again after this, and after twice as long each time it does not come about. */
const AGAIN_MS = 1_000;
const MAX_AGAIN_MS = 60_000;
/** The first paint comes first. */
const FIRST_MS = 1_000;

/** Keys of the answers that may be others then. Of access only lists: one rule may be gone, and who edits it asks before saving. */
const QUERIES: Readonly<Record<ChangeEvent['changed'][number], readonly string[][]>> = {
  servers: [['servers'], ['approvals'], ['tools'], ['explain']],
  access: [['rules', 'list'], ['toolsets', 'list'], ['budgets'], ['explain']],
};

export interface LivePorts {
  /** Asks again for the answers under a key. */
  cache: { invalidateQueries(filters: { queryKey: readonly string[] }): unknown };
  /** Says whether somebody sees it. */
  page: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & {
    readonly hidden: boolean;
  };
  /** Hears what the gateway tells, until the stream ends. */
  listen(signal: AbortSignal, hear: (type: string, data: unknown) => void): Promise<void>;
}

let isTold = false;

/** For queries of what is told of. */
export const liveMs = (): number => (isTold ? TOLD_MS : LIVE_MS);

/** Hear what changed, until what this gives is called. */
export function beginLive({ cache, page, listen }: LivePorts): () => void {
  let stream: AbortController | undefined;
  let timer = 0;
  let again = AGAIN_MS;
  const ask = (kinds: readonly (keyof typeof QUERIES)[]) => {
    for (const queryKey of kinds.flatMap(kind => QUERIES[kind])) {
      void cache.invalidateQueries({ queryKey });
    }
  };
  const hear = (type: string, data: unknown) => {
    if (type === 'changed') ask((data as ChangeEvent).changed);
    if (type !== 'watching') return;
    isTold = true;
    again = AGAIN_MS;
    // What changed before is not told.
    ask(['servers']);
  };
  async function begin(): Promise<void> {
    const own = new AbortController();
    stream = own;
    await listen(own.signal, hear).catch(() => {});
    if (stream !== own) return;
    const wasTold = isTold;
    isTold = false;
    // Asking once more has the clock go on as it is now.
    if (wasTold) ask(['servers']);
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
