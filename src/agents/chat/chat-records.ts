/**
 * Stores chats: sealed for their row and their principal, claimed by whoever runs them, and written under that claim. A chat that cannot be
 * opened, because its key has left the ring, is treated as missing.
 */
import { openEnvelope, sealEnvelope, type Place } from '../../shared/crypto/envelope.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { ChatStatus } from './chat-events.ts';
import {
  claimChat,
  deleteChat,
  findChat,
  insertChat,
  pruneChats,
  renewLease,
  requestStop,
  writeChat,
  type Claimed,
  type ChatRow,
} from './chat-store.ts';
import { parseState, type ChatState } from './chat-state.ts';

/** Lease of a run: one that has not renewed it for this long counts as dead, in milliseconds. */
export const LEASE_MS = 5_000;
/** Pause before a write that failed is repeated, in milliseconds. */
const AGAIN_MS = 500;
/** Most chats of one principal that run at once. */
export const MAX_RUNNING = 8;

export interface StoredChat {
  row: ChatRow;
  state: ChatState;
}

/** A chat that was claimed here. */
export interface Claim {
  id: string;
  principalId: string;
  claim: string;
}

export interface RecordsPorts {
  db: D1Database;
  keys: KeyRing;
  keptMs: number;
  maxKept: number;
  now(): number;
}

export class ChatRecords {
  readonly #ports: RecordsPorts;

  constructor(ports: RecordsPorts) {
    this.#ports = ports;
  }

  async find(principalId: string, id: string): Promise<StoredChat | undefined> {
    const { db, keys, now } = this.#ports;
    const row = await findChat(db, principalId, id, now());
    const text = row && (await openEnvelope(keys, row.sealed, placeOf(principalId, id)));
    const state = text === undefined ? undefined : parseState(text);
    return row && state && { row, state };
  }

  /** Creates a claimed chat; undefined where too many of the principal's chats run. */
  async create(principalId: string, state: ChatState): Promise<Claim | undefined> {
    const { db, maxKept, now } = this.#ports;
    const claim = { id: crypto.randomUUID(), principalId, claim: crypto.randomUUID() };
    const written = await this.#toClaimed(claim, state);
    const insert = insertChat(db, claim.id, principalId, written, MAX_RUNNING);
    // Afterwards, so that a chat that is not created displaces no other.
    const [inserted] = await db.batch([insert, ...pruneChats(db, principalId, now(), maxKept)]);
    return inserted?.meta.changes === 1 ? claim : undefined;
  }

  /** Claims a chat at the revision that was read; undefined where it has changed, runs, or too many run. */
  async claim({ row }: StoredChat, state: ChatState): Promise<Claim | undefined> {
    const { id, principalId } = row;
    const claim = { id, principalId, claim: crypto.randomUUID() };
    const written = await this.#toClaimed(claim, state);
    const { meta } = await claimChat(this.#ports.db, row, written, MAX_RUNNING).run();
    return meta.changes === 1 ? claim : undefined;
  }

  /**
   * Writes a state; repeats that once if it fails, since what a model and tools have done would be lost.
   * @returns whether the claim still held; false too if the chat came to rest with a write whose response was lost
   */
  async write(claim: Claim, status: ChatStatus, state: ChatState): Promise<boolean> {
    // Anew for each try: a repeated one must not shorten the lease, which was renewed meanwhile.
    const write = async () =>
      writeChat(this.#ports.db, claim.id, status, await this.#toClaimed(claim, state)).run();
    const { meta } = await write().catch(async () => {
      await scheduler.wait(AGAIN_MS);
      return write();
    });
    return meta.changes === 1;
  }

  /** @returns undefined where the claim is lost */
  renew({ id, claim }: Claim): Promise<{ isStopped: boolean } | undefined> {
    return renewLease(this.#ports.db, id, claim, this.#ports.now() + LEASE_MS);
  }

  async requestStop(principalId: string, id: string): Promise<void> {
    await requestStop(this.#ports.db, principalId, id).run();
  }

  /** @returns whether the chat existed */
  async delete(principalId: string, id: string): Promise<boolean> {
    return (await deleteChat(this.#ports.db, principalId, id).run()).meta.changes > 0;
  }

  async #toClaimed({ id, principalId, claim }: Claim, state: ChatState): Promise<Claimed> {
    const { keys, keptMs } = this.#ports;
    const now = this.#ports.now();
    const sealed = await sealEnvelope(keys, JSON.stringify(state), placeOf(principalId, id));
    return { claim, sealed, now, leasedUntil: now + LEASE_MS, expiresAt: now + keptMs };
  }
}

const placeOf = (principalId: string, id: string): Place => ({
  kind: 'chat',
  id: JSON.stringify([principalId, id]),
  field: 'state',
  origin: '',
});
