/**
 * Tokens: create, list, revoke. The value is given out once, at creation; only its HMAC is kept.
 * Each token has a principal of its own name.
 */
import { PorticoError } from '../errors/portico-error.ts';
import type { Server } from '../registry/server-schema.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { requireScope, type Caller } from './principal.ts';
import { createTokenValue, MEMBER_SCOPES, type CreateToken, type Token } from './token.ts';
import { deleteToken, insertPrincipal, insertToken, listTokens } from './token-store.ts';

export interface TokenPorts {
  db: D1Database;
  keys: KeyRing;
}

export class TokenService {
  readonly #ports: TokenPorts;

  constructor(ports: TokenPorts) {
    this.#ports = ports;
  }

  /**
   * @param servers the registry, to resolve names and ids in `input.servers`
   * @throws PorticoError `forbidden`, `validation_failed`
   */
  async create(
    caller: Caller,
    input: CreateToken,
    servers: readonly Server[],
  ): Promise<{ token: Token; value: string }> {
    requireScope(caller, 'admin');
    const { db, keys } = this.#ports;
    const value = createTokenValue();
    const [hmac = ''] = await keys.hmacs('token', value);
    const now = Date.now();
    const token: Token = {
      id: crypto.randomUUID(),
      principalId: crypto.randomUUID(),
      name: input.name,
      servers: input.servers ? resolveServers(input.servers, servers) : null,
      scopes: input.scopes ?? MEMBER_SCOPES,
      createdAt: now,
    };
    await db.batch([
      insertPrincipal(db, token.principalId, token.name, now),
      insertToken(db, token, hmac),
    ]);
    return { token, value };
  }

  async list(caller: Caller): Promise<Token[]> {
    requireScope(caller, 'admin');
    return listTokens(this.#ports.db);
  }

  /** Revoke a token; every isolate refuses it within a second. */
  async delete(caller: Caller, id: string): Promise<void> {
    requireScope(caller, 'admin');
    const { meta } = await deleteToken(this.#ports.db, id).run();
    if (meta.changes === 0) throw new PorticoError('not_found', 'No such token');
  }
}

function resolveServers(wanted: readonly string[], servers: readonly Server[]): string[] {
  const ids = wanted.map(key => servers.find(({ id, name }) => id === key || name === key)?.id);
  const unknown = wanted.filter((_, i) => ids[i] === undefined);
  if (unknown.length > 0) {
    const message = `unknown: ${unknown.join(', ')}`;
    throw new PorticoError('validation_failed', `servers: ${message}`, {
      fields: [{ field: 'servers', message }],
    });
  }
  return [...new Set(ids.filter(id => id !== undefined))];
}
