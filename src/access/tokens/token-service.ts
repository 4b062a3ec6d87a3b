/**
 * Tokens: create, list, rotate, revoke. A value is given out once, when it is made; only its HMAC is kept. A token belongs to a
 * principal: one that exists, or one of its own name that is made with it.
 */
import { ALWAYS } from '../../audit/admin-audit.ts';
import { refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError, type FieldProblem } from '../../shared/errors/portico-error.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { AccessPorts } from '../../records/edit-with-revision.ts';
import {
  allOf,
  findRecord,
  insertRecord,
  whenRecord,
  whereEqual,
  whereNamed,
} from '../../records/record-store.ts';
import { createReadRecords, requireRecord, type ReadRecords } from '../../records/records.ts';
import { onEitherSchema } from '../../shared/util/either-schema.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import type { Actor } from '../../shared/identity/principal.ts';
import { PRINCIPALS } from '../principals/principal-store.ts';
import { findNamed, toStoredPattern } from '../../servers/server-names.ts';
import { TOKENS } from './token-list-store.ts';
import {
  isExpired,
  parseExpiry,
  type CreateToken,
  type ShownToken,
  type TokenQuery,
} from './token-schema.ts';
import { createTokenValue, MEMBER_SCOPES, type StoredToken } from '../../shared/identity/token.ts';
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

/** A token and its value, which is shown this once. */
export interface Issued {
  token: ShownToken;
  value: string;
}

/** A rotation on top of another is tried again this often. */
const MAX_ROTATE_TRIES = 5;

export interface Tokens extends ReadRecords<ShownToken, TokenQuery> {
  /**
   * @param servers the registry, to resolve names in `input`
   * @throws PorticoError `forbidden`, `validation_failed`
   */
  create(caller: Actor, input: CreateToken, servers: readonly NamedServer[]): Promise<Issued>;
  /**
   * Give a token another value at once.
   * @param graceMs how long the one it had goes on to work; what an earlier rotation left ends now
   * @throws PorticoError `forbidden`, `not_found`, `conflict` where it has expired
   */
  rotate(caller: Actor, id: string, graceMs: number): Promise<Issued>;
}

export function createTokens({ db, adminAudit, keys, onAccessChanged }: TokenPorts): Tokens {
  const kind = {
    table: TOKENS,
    noun: 'token',
    missing: 'No such token',
    onChanged: onAccessChanged,
    filter: ({ name, principal }: TokenQuery) =>
      allOf(whereNamed(name), whereEqual({ principal_id: principal })),
  };
  const find = (id: string) => requireRecord(db, kind, id);

  async function issue(): Promise<{ value: string; stored: TokenValue }> {
    const value = createTokenValue();
    const [hmac = ''] = await keys.hmacs('token', value);
    return { value, stored: { hmac, keyId: keys.active } };
  }

  return {
    ...createReadRecords({ db, adminAudit }, kind),

    create(caller, input, servers) {
      const id = crypto.randomUUID();
      const act = { action: 'token.create', subject: id };
      return adminAudit.perform(caller, 'admin', act, async commit => {
        const token = await build(db, id, input, servers);
        const { value, stored } = await issue();
        const { principalId, name, createdAt } = token;
        const own = {
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
        const isOwn = input.principal === undefined;
        const isDone = await commit({
          when: isOwn ? ALWAYS : whenRecord(PRINCIPALS, principalId),
          statements: [
            ...(isOwn ? [insertRecord(db, PRINCIPALS, own)] : []),
            insertToken(db, token, stored),
          ],
          detail: {
            name,
            principal: principalId,
            scopes: token.grantedScopes,
            servers: token.servers,
            tools: token.tools,
            toolsets: token.toolsets,
            expires_at: token.expiresAt,
          },
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

/** The token that a body makes. @throws PorticoError `validation_failed` with every field that names what is not there */
async function build(
  db: D1Database,
  id: string,
  input: CreateToken,
  servers: readonly NamedServer[],
): Promise<StoredToken> {
  const now = Date.now();
  const expiresAt = parseExpiry(input.expires_at, now);
  const problems: FieldProblem[] = [];
  if (input.principal !== undefined && !(await findRecord(db, PRINCIPALS, input.principal))) {
    problems.push({ field: 'principal', message: 'there is no such principal' });
  }
  const resolve = (
    field: 'servers' | 'tools' | 'toolsets',
    resolveOne: (text: string) => string | undefined,
  ): string[] | null => {
    const given = input[field];
    if (!given) return null;
    const found = given.map(resolveOne);
    const unknown = given.filter((_, i) => found[i] === undefined);
    if (unknown.length > 0) problems.push({ field, message: `unknown: ${unknown.join(', ')}` });
    return [...new Set(found.filter(entry => entry !== undefined))];
  };
  const toolsets = input.toolsets ? await listToolsetNames(db) : [];
  const restrictToCaller = {
    servers: resolve('servers', key => findNamed(key, servers)?.id),
    tools: resolve('tools', pattern => toStoredPattern(pattern, servers)),
    toolsets: resolve('toolsets', key => findNamed(key, toolsets)?.id),
  };
  refuseFields(problems);
  return {
    id,
    principalId: input.principal ?? crypto.randomUUID(),
    name: input.name,
    ...restrictToCaller,
    grantedScopes: [...new Set(input.scopes ?? MEMBER_SCOPES)],
    createdAt: now,
    expiresAt,
  };
}
