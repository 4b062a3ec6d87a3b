/**
 * Rotates the key ring while calls run: each request seals a bounded number of records again with the active key, in row order. An
 * interruption leaves every record readable; continuing or starting over does the rest.
 *
 * Tokens are not sealed: an HMAC can only be computed from the token itself, so each token is moved when it is used
 * (`access/admission/snapshots.ts`) and only counted here. The same holds for the secrets of clients (`oauth/clients/authenticate.ts`);
 * a refresh token is replaced when it is used.
 */
import { ALWAYS, type AdminAudit } from '../audit/admin-audit.ts';
import { type Actor, requireScope } from '../shared/identity/principal.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { envelopePrefix, isEnvelope, rewrapEnvelope } from '../shared/crypto/envelope.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import {
  countByKey,
  findStale,
  replaceSealed,
  SEALED_KINDS,
  type KeyCount,
  type SealedRecord,
} from './rotation-store.ts';
import {
  toCursor,
  parseCursor,
  type KeysView,
  type RotateInput,
  type Rotated,
} from './rotation-schema.ts';
import { openHeaders, sealCredential } from './sealed-credential.ts';

export interface RotationPorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
}

/** Maximum length of the sealed texts in one batch, in characters; a single longer text is a batch of its own. */
const MAX_BATCH_CHARS = 1_000_000;

export class Rotation {
  readonly #ports: RotationPorts;

  constructor(ports: RotationPorts) {
    this.#ports = ports;
  }

  /** Reports what is sealed under which key. */
  async report(caller: Actor): Promise<KeysView> {
    requireScope(caller, 'admin');
    const { db, keys } = this.#ports;
    const counts = await countByKey(db, Date.now());
    const ids = new Set([...keys.ids, ...counts.map(keyOf)]);
    const of = (id: string, ...kinds: KeyCount['kind'][]) =>
      sum(counts, count => keyOf(count) === id && kinds.includes(count.kind));
    return {
      active: keys.active,
      keys: [...ids]
        .filter(id => id !== '')
        .map(id => ({
          id,
          in_ring: keys.ids.includes(id),
          secrets: of(id, 'secret', 'webhook'),
          servers: of(id, 'headers', 'auth'),
          access_tokens: of(id, 'access_token'),
          accounts: of(id, 'account', 'refresh_token', 'upstream_client'),
          tokens: of(id, 'token'),
        })),
      remaining: sum(counts, count => isSealed(count) && count.keyId !== keys.active),
      tokens_remaining: sum(counts, count => !isSealed(count) && count.keyId !== keys.active),
    };
  }

  /**
   * Seals the next records with the active key.
   * @throws PorticoError `forbidden`, `validation_failed`
   */
  rotate(caller: Actor, { limit, cursor }: RotateInput): Promise<Rotated> {
    const { db, keys, adminAudit } = this.#ports;
    const act = { action: 'keys.rotate', subject: keys.active };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const from = parseCursor(cursor);
      if (!from)
        throw new PorticoError(
          'validation_failed',
          'cursor: is not a cursor of this route; start again without one',
        );
      const records = await this.#next(from, limit);
      const made = await Promise.all(records.map(record => this.#rewrap(record)));
      const statements = records.flatMap((record, i) => {
        const next = made[i];
        return next === undefined ? [] : [replaceSealed(db, record, next)];
      });
      const unreadable = records.length - statements.length;
      const detail = { rotated: statements.length, unreadable };
      await commit({ when: ALWAYS, statements, detail });
      const counts = await countByKey(db, Date.now());
      const last = records.at(-1);
      return {
        active: keys.active,
        total: sum(counts, isSealed),
        rotated: statements.length,
        remaining: sum(counts, count => isSealed(count) && count.keyId !== keys.active),
        unreadable,
        next: last === undefined ? null : toCursor(last),
      };
    });
  }

  /** Finds the records after a position, kind by kind, as many as fit. */
  async #next(
    from: { kind: SealedRecord['kind']; id: string },
    limit: number,
  ): Promise<SealedRecord[]> {
    const { db, keys } = this.#ports;
    const found: SealedRecord[] = [];
    for (const kind of SEALED_KINDS.slice(SEALED_KINDS.indexOf(from.kind))) {
      if (found.length >= limit) break;
      const after = kind === from.kind ? from.id : '';
      const prefix = envelopePrefix(keys.active);
      found.push(...(await findStale(db, kind, prefix, after, limit - found.length)));
    }
    let chars = 0;
    return found.filter(({ sealed }, i) => (chars += sealed.length) <= MAX_BATCH_CHARS || i === 0);
  }

  /** Seals a record's text again with the active key; undefined if it does not open. */
  async #rewrap({ kind, id, url, sealed, place }: SealedRecord): Promise<string | undefined> {
    const { keys } = this.#ports;
    if (isEnvelope(sealed) || kind !== 'headers') return rewrapEnvelope(keys, sealed, place);
    const headers = await openHeaders(keys, { id, url }, sealed);
    return headers && sealCredential(keys, { id, url }, 'headers', headers);
  }
}

const isSealed = ({ kind }: KeyCount) => kind !== 'token';

/** The key's id, without the mark of the form that preceded envelopes. */
const keyOf = ({ keyId }: KeyCount) => keyId.replace('*', '');

const sum = (counts: readonly KeyCount[], isWanted: (count: KeyCount) => boolean) =>
  counts.filter(isWanted).reduce((all, { count }) => all + count, 0);
