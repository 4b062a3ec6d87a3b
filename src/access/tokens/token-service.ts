/**
 * Tokens: create, list, rotate, revoke. A value is given out once, when it is made; only its HMAC is stored. A token belongs to a
 * principal: an existing one, or one with the token's name that is created with it. Callers who do not administer the whole deployment have
 * only their own tokens (`own-tokens.ts`).
 */
import { ALWAYS } from '../../audit/admin-audit.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { AccessPorts } from '../../records/edit-with-revision.ts';
import {
  allOf,
  insertRecord,
  whenRecord,
  whereEqual,
  whereNamed,
} from '../../records/record-store.ts';
import { createReadRecords, requireRecord, type ReadRecords } from '../../records/records.ts';
import { onEitherSchema } from '../../shared/util/either-schema.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import { administersAll, type Actor, createTokenValue } from '../../shared/identity/principal.ts';
import { PRINCIPALS } from '../principals/principal-store.ts';
import type { Caller } from '../policy/caller.ts';
import { buildToken, toTokenDetail } from './build-token.ts';
import { createOwnTokens, OWN_SCOPES, type OwnQuery } from './own-tokens.ts';
import { TOKENS } from './token-list-store.ts';
import {
  isExpired,
  type CreateToken,
  type Issued,
  type ShownToken,
  type TokenQuery,
} from './token-schema.ts';
import {
  findTokenValue,
  insertToken,
  rotateToken,
  sweepFormer,
  whenTokenValue,
  type TokenValue,
} from '../policy/token-store.ts';
import { listToolsetNames } from '../toolsets/toolset-list-store.ts';

export interface TokenPorts extends AccessPorts {
  keys: KeyRing;
}

/** Most attempts of a rotation that collides with others. */
const MAX_ROTATE_TRIES = 5;

export interface Tokens extends ReadRecords<ShownToken, TokenQuery> {
  /**
   * Creates a token.
   * @param servers those that the caller knows, to resolve names in `input`
   * @throws PorticoError `forbidden`, `validation_failed`, `conflict` where a principal has made too many of its own
   */
  create(caller: Caller, input: CreateToken, servers: readonly NamedServer[]): Promise<Issued>;
  /**
   * Gives a token another value at once.
   * @param graceMs how long its previous value keeps working; a value left from an earlier rotation ends now
   * @throws PorticoError `forbidden`, `not_found`, `conflict` where it has expired
   */
  rotate(caller: Actor, id: string, graceMs: number): Promise<Issued>;
}

export function createTokens({ db, adminAudit, keys, onAccessChanged }: TokenPorts): Tokens {
  const kind = {
    table: TOKENS,
    noun: 'token',
    missing: 'No such token',
    scopes: OWN_SCOPES,
    onChanged: onAccessChanged,
    filter: ({ name, principal, within }: OwnQuery) =>
      allOf(whereNamed(name), whereEqual({ principal_id: principal }), within ?? ALWAYS),
  };
  const find = (id: string) => requireRecord(db, kind, id);

  async function issue(): Promise<{ value: string; stored: TokenValue }> {
    const value = createTokenValue();
    const [hmac = ''] = await keys.hmacs('token', value);
    return { value, stored: { hmac, keyId: keys.active } };
  }

  const records = createReadRecords<ShownToken, OwnQuery>({ db, adminAudit }, kind);
  const own = createOwnTokens({ db, adminAudit, records, issue });
  const of = (caller: Actor) => (administersAll(caller) ? records : own);

  return {
    list: (caller, ...args) => of(caller).list(caller, ...args),
    get: (caller, id) => of(caller).get(caller, id),
    delete: (caller, id) => of(caller).delete(caller, id),

    create(caller, input, servers) {
      if (!administersAll(caller)) return own.create(caller, input, servers);
      const id = crypto.randomUUID();
      const act = { action: 'token.create', subject: id };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const toolsets = await listToolsetNames(db);
        const token = await buildToken(db, id, input, { servers, toolsets });
        const { value, stored } = await issue();
        const { principalId, name, createdAt } = token;
        const principal = {
          id: principalId,
          name,
          groups: [],
          scopes: null,
          revision: 1,
          created_at: createdAt,
          updated_at: null,
          token_count: 1,
          claimed_groups: [],
        };
        const isNew = input.principal === undefined;
        const isDone = await commit({
          when: isNew ? ALWAYS : whenRecord(PRINCIPALS, principalId),
          statements: [
            ...(isNew ? [insertRecord(db, PRINCIPALS, principal)] : []),
            insertToken(db, token, stored),
          ],
          detail: toTokenDetail(token),
        });
        if (!isDone)
          throw new PorticoError('validation_failed', 'principal: was deleted meanwhile');
        return { token: await find(id), value };
      });
    },

    rotate(caller, id, graceMs) {
      const act = { action: 'token.rotate', subject: id };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const { value, stored } = await issue();
        for (let tries = 0; tries < MAX_ROTATE_TRIES; tries += 1) {
          const now = Date.now();
          const [before, from] = [await find(id), await findTokenValue(db, id)];
          if (isExpired(before, now)) throw new PorticoError('conflict', 'The token has expired');
          if (!from) continue;
          const former =
            graceMs > 0 ? { id: crypto.randomUUID(), expiresAt: now + graceMs } : undefined;
          const isDone = await onEitherSchema(age =>
            commit({
              when: whenTokenValue(id, from),
              statements: [...rotateToken(db, id, from, stored, former, age), sweepFormer(db, now)],
              detail: { grace_seconds: graceMs / 1000 },
            }),
          );
          if (!isDone) continue;
          await onAccessChanged();
          return { token: await find(id), value };
        }
        throw new PorticoError('busy', 'Too many rotations at once; try again');
      });
    },
  };
}
