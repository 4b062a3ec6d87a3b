/**
 * One run of deliveries: sends what is due and records the outcomes. An outcome is recorded after sending, so an interrupted delivery is
 * sent again under the same id. A failing event holds back only the later events of its subject at its webhook.
 */
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import {
  findDue,
  findNextAt,
  findStillDue,
  pruneDeliveries,
  updateDelivery,
  type Due,
  type Outcome,
} from './delivery-store.ts';
import { toBody } from './event-body.ts';
import { decideNextAt } from './pace.ts';
import { send, type Sent } from './send.ts';
import { openTarget } from './sealed-address.ts';

/** Most deliveries of one run, in total and per webhook. */
const LIMITS = { all: 60, ofWebhook: 20 };
/** Concurrent requests; a Worker has six connections. */
const AT_ONCE = 5;
/** How long ended deliveries are kept, in milliseconds, and how many per webhook. */
const KEPT_MS = 30 * 86_400_000;
const KEPT = 1_000;

export interface DeliverPorts {
  db: D1Database;
  keys: KeyRing;
  allowsLoopback: boolean;
}

/** @returns when the next delivery is due; undefined where none is pending */
export async function deliver(ports: DeliverPorts): Promise<number | undefined> {
  const { db } = ports;
  const due = await findDue(db, Date.now(), LIMITS);
  const queue = [...due];
  const work = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      // A run takes a while, and the webhook may have been edited or deleted meanwhile.
      const one = await findStillDue(db, next.seq);
      if (one === undefined) continue;
      const outcome = toOutcome(one, await sendOne(ports, one));
      await updateDelivery(db, one.seq, outcome).run();
    }
  };
  const worked = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  // Only now: what the others still send must be over before the next run, which would send it again.
  for (const one of worked) if (one.status === 'rejected') throw one.reason;
  const ids = [...new Set(due.map(({ webhook_id: id }) => id))];
  // The next run deletes what this one could not.
  await db.batch(pruneDeliveries(db, Date.now() - KEPT_MS, ids, KEPT)).catch(() => {});
  return findNextAt(db);
}

async function sendOne({ keys, allowsLoopback }: DeliverPorts, one: Due): Promise<Sent> {
  const target = await openTarget(keys, one.webhook);
  if (!target) {
    const problem = 'its address cannot be opened: its key is not in the ring';
    return { isDelivered: false, status: null, problem, retryAfterMs: 0 };
  }
  const { id, type, data, occurred_at: occurredAt } = one;
  const body = toBody(one.webhook.format, { type, data, occurredAt });
  return send(target, { id, body }, allowsLoopback);
}

function toOutcome(one: Due, sent: Sent): Outcome {
  const now = Date.now();
  const attempts = one.attempts + 1;
  const { status, problem, retryAfterMs } = sent;
  const tried = { attempts, status, problem, next_at: one.next_at };
  if (sent.isDelivered) return { ...tried, state: 'delivered', ended_at: now };
  const failure = { attempts, giveUpAt: one.give_up_at, retryAfterMs };
  const nextAt = decideNextAt(failure, now, Math.random());
  return nextAt === undefined
    ? { ...tried, state: 'dead', ended_at: now }
    : { ...tried, state: 'pending', next_at: nextAt, ended_at: null };
}
