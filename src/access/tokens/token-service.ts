/**
 * Tokens: create, list, rotate, revoke. A value is given out once, when it is made; only its HMAC is kept. A token belongs to a
 * principal: one that exists, or one of its own name that is made with it.
 */
import type { Caller } from '../policy/caller.ts';
import { ALWAYS } from '../../audit/admin-audit.ts';
import { refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError, type FieldProblem } from '../../shared/errors/portico-error.ts';
import type { ListPage } from '../../shared/util/page.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { AccessPorts } from '../../records/edit-with-revision.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import { findPrincipal, insertPrincipal, whenPrincipal } from '../principals/principal-store.ts';
import { findNamed, toStoredPattern } from '../../servers/server-names.ts';
import { findToken, listTokens, type TokenFilter, type TokenPosition } from './token-list-store.ts';
import { isExpired, parseExpiry, type CreateToken, type ShownToken } from './token-schema.ts';
import { createTokenValue, MEMBER_SCOPES, type StoredToken } from '../../shared/identity/token.ts';
import {
  deleteToken,
  findTokenValue,
  insertToken,
  rotateToken,
  sweepFormer,
  whenToken,
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

export class TokenService {
  readonly #ports: TokenPorts;

  constructor(ports: TokenPorts) {
    this.#ports = ports;
  }

  /**
   * @param servers the registry, to resolve names in `input`
   * @throws PorticoError `forbidden`, `validation_failed`
   */
  create(caller: Caller, input: CreateToken, servers: readonly NamedServer[]): Promise<Issued> {
    const { db, adminAudit } = this.#ports;
    const id = crypto.randomUUID();
    return adminAudit.perform(
      caller,
      'admin',
      { action: 'token.create', subject: id },
      async commit => {
        const token = await this.#build(id, input, servers);
        const { value, stored } = await this.#issue();
        const { principalId, name, createdAt } = token;
        const principal = { id: principalId, name, groups: [], scopes: null, createdAt };
        const own =
          input.principal === undefined
            ? [insertPrincipal(db, { ...principal, revision: 1, updatedAt: null })]
            : [];
        const isDone = await commit({
          when: input.principal === undefined ? ALWAYS : whenPrincipal(principalId),
          statements: [...own, insertToken(db, token, stored)],
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
        return { token: await this.#find(id), value };
      },
    );
  }

  /** One page of the tokens, newest first, and how many match. */
  async list(
    caller: Caller,
    filter: TokenFilter,
    limit: number,
    after?: TokenPosition,
  ): Promise<ListPage<ShownToken> & { total: number }> {
    requireScope(caller, 'admin');
    return listTokens(this.#ports.db, filter, limit, after);
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Caller, id: string): Promise<ShownToken> {
    requireScope(caller, 'admin');
    return this.#find(id);
  }

  /**
   * Give a token another value at once.
   * @param graceMs how long the one it had goes on to work; what an earlier rotation left ends now
   * @throws PorticoError `forbidden`, `not_found`, `conflict` where it has expired
   */
  rotate(caller: Caller, id: string, graceMs: number): Promise<Issued> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    return adminAudit.perform(
      caller,
      'admin',
      { action: 'token.rotate', subject: id },
      async commit => {
        const { value, stored } = await this.#issue();
        for (let tries = 0; tries < MAX_ROTATE_TRIES; tries += 1) {
          const now = Date.now();
          const [before, from] = [await this.#find(id), await findTokenValue(db, id)];
          if (isExpired(before, now)) throw new PorticoError('conflict', 'The token has expired');
          if (!from) continue;
          const former =
            graceMs > 0 ? { id: crypto.randomUUID(), expiresAt: now + graceMs } : undefined;
          const isDone = await commit({
            when: whenTokenValue(id, from),
            statements: [...rotateToken(db, id, from, stored, former), sweepFormer(db, now)],
            detail: { grace_seconds: graceMs / 1000 },
          });
          if (!isDone) continue;
          await onAccessChanged();
          return { token: await this.#find(id), value };
        }
        throw new PorticoError('busy', 'Too many rotations at once; try again');
      },
    );
  }

  /** Revoke a token; every isolate refuses it within a second. */
  delete(caller: Caller, id: string): Promise<void> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    return adminAudit.perform(
      caller,
      'admin',
      { action: 'token.delete', subject: id },
      async commit => {
        const isDone = await commit({ when: whenToken(id), statements: [deleteToken(db, id)] });
        if (!isDone) throw new PorticoError('not_found', 'No such token');
        await onAccessChanged();
      },
    );
  }

  async #issue(): Promise<{ value: string; stored: TokenValue }> {
    const { keys } = this.#ports;
    const value = createTokenValue();
    const [hmac = ''] = await keys.hmacs('token', value);
    return { value, stored: { hmac, keyId: keys.active } };
  }

  async #find(id: string): Promise<ShownToken> {
    const token = await findToken(this.#ports.db, id);
    if (!token) throw new PorticoError('not_found', 'No such token');
    return token;
  }

  async #build(
    id: string,
    input: CreateToken,
    servers: readonly NamedServer[],
  ): Promise<StoredToken> {
    const { db } = this.#ports;
    const now = Date.now();
    const expiresAt = parseExpiry(input.expires_at, now);
    const problems: FieldProblem[] = [];
    if (input.principal !== undefined && !(await findPrincipal(db, input.principal))) {
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
}
