/**
 * Calls for the audit: each has a mark by which its row is found, and a kind that determines its outcome. Owns the kinds, how a call of
 * each is made, and what its row must contain. A call without a response was under way when something broke.
 */
import { request } from 'node:http';
import { until } from '../../fixtures/start-fixture.ts';
import { headersFor, modernHeaders, requestBody, type RawClient } from './raw-client.ts';

/** A secret in arguments, headers and errors that must be in no row. */
export const CANARY = 'canary-4f0e-secret-value';

/** How calls of a kind are made, and the outcomes and codes that their rows may have. */
interface Kind {
  fault: string;
  /** Per hundred calls. */
  share: number;
  outcome: string;
  code: string | null;
  /** The caller may not call, names an unknown tool, or disconnects. */
  way?: 'forbidden' | 'unknown' | 'leaves';
}

export const KINDS: Record<string, Kind> = {
  good: { fault: 'none', share: 55, outcome: 'done', code: null },
  forbidden: { fault: 'none', share: 6, outcome: 'denied', code: 'forbidden', way: 'forbidden' },
  unknown: { fault: 'none', share: 6, outcome: 'denied', code: 'tool_not_found', way: 'unknown' },
  reset: {
    fault: 'reset-before-headers',
    share: 8,
    outcome: 'failed',
    code: 'upstream_unreachable',
  },
  cut: { fault: 'reset-mid-body', share: 6, outcome: 'failed', code: 'upstream_truncated' },
  halted: {
    fault: 'reset-after-progress',
    share: 5,
    outcome: 'failed',
    code: 'upstream_truncated',
  },
  broken: { fault: 'status-500', share: 6, outcome: 'failed', code: 'upstream_5xx' },
  refused: { fault: 'echoed-credential', share: 6, outcome: 'done', code: null },
  left: { fault: 'hang-before-headers', share: 2, outcome: 'cancelled', code: null, way: 'leaves' },
};

export interface MadeCall {
  mark: string;
  kind: string;
  server: string;
  /** It got a response, or was abandoned on purpose. */
  isOver: boolean;
  /** When it ended, in milliseconds since the epoch. */
  overAt?: number;
}

export interface Callers {
  able: RawClient;
  unable: RawClient;
  /** Whether a server has received a call. */
  hasArrived(call: MadeCall): Promise<boolean>;
}

/** The longest time until a call arrives, in milliseconds. */
const ARRIVAL_MS = 30_000;

/** Makes a call; a call without a response is not over. */
export async function make(made: MadeCall, callers: Callers): Promise<void> {
  const { able, unable } = callers;
  const { fault = 'none', way } = KINDS[made.kind] ?? {};
  const name = `${made.server}.${way === 'unknown' ? 'nothing' : 'act'}`;
  const given = { fault, key: made.mark, password: CANARY, note: `Bearer ${CANARY}` };
  try {
    if (way === 'leaves') await leave(able, name, given, () => callers.hasArrived(made));
    else {
      const answer = await (way === 'forbidden' ? unable : able).call(name, given);
      if (answer.message.result === undefined && answer.message.error === undefined) return;
    }
    made.isOver = true;
    made.overAt = Date.now();
  } catch {
    // The gateway was not running.
  }
}

/** Makes a call and disconnects once it has arrived. */
async function leave(
  { target: to }: RawClient,
  name: string,
  given: object,
  hasArrived: () => Promise<boolean>,
): Promise<void> {
  const params = JSON.stringify({ name, arguments: given });
  const headers = Object.fromEntries(headersFor(to, modernHeaders('tools/call', name)));
  const sent = request(to.url, { method: 'POST', headers });
  const broken = new Promise<never>((_, reject) => sent.on('error', reject));
  broken.catch(() => undefined);
  sent.end(requestBody('modern', 'tools/call', params, 1));
  const arrived = until(
    'the call arrived',
    ARRIVAL_MS,
    async () => (await hasArrived()) || undefined,
  );
  await Promise.race([arrived, broken]);
  sent.socket?.resetAndDestroy();
}
