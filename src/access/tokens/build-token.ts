/** Builds the token that a body describes: names become ids, and every field that names something unknown is reported. */
import { refuseFields } from '../../shared/errors/field-problems.ts';
import type { FieldProblem } from '../../shared/errors/portico-error.ts';
import { MEMBER_SCOPES, type StoredToken } from '../../shared/identity/principal.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import { findRecord } from '../../records/record-store.ts';
import { findNamed, toStoredPattern } from '../../servers/server-names.ts';
import { PRINCIPALS } from '../principals/principal-store.ts';
import { parseExpiry, type CreateToken } from './token-schema.ts';

/** What names in a body may refer to: for a caller who does not see everything, only what it sees. */
export interface Known {
  servers: readonly NamedServer[];
  toolsets: readonly { id: string; name: string }[];
}

/** The problem with a principal that the caller does not know. */
export const NO_PRINCIPAL: FieldProblem = {
  field: 'principal',
  message: 'there is no such principal',
};

/**
 * Builds the token that a body describes.
 * @param check returns further problems of the token
 * @throws PorticoError `validation_failed` with every invalid field
 */
export async function buildToken(
  db: D1Database,
  id: string,
  input: CreateToken,
  { servers, toolsets }: Known,
  check: (token: StoredToken) => FieldProblem[] = () => [],
): Promise<StoredToken> {
  const now = Date.now();
  const expiresAt = parseExpiry(input.expires_at, now);
  const problems: FieldProblem[] = [];
  if (input.principal !== undefined && !(await findRecord(db, PRINCIPALS, input.principal))) {
    problems.push(NO_PRINCIPAL);
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
  const limits = {
    servers: resolve('servers', key => findNamed(key, servers)?.id),
    tools: resolve('tools', pattern => toStoredPattern(pattern, servers)),
    toolsets: resolve('toolsets', key => findNamed(key, toolsets)?.id),
  };
  const token = {
    id,
    principalId: input.principal ?? crypto.randomUUID(),
    name: input.name,
    ...limits,
    grantedScopes: [...new Set(input.scopes ?? MEMBER_SCOPES)],
    createdAt: now,
    expiresAt,
  };
  refuseFields([...problems, ...check(token)]);
  return token;
}

/** What the audit row records of a new token. */
export const toTokenDetail = (token: StoredToken): JsonObject => ({
  name: token.name,
  principal: token.principalId,
  scopes: token.grantedScopes,
  servers: token.servers,
  tools: token.tools,
  toolsets: token.toolsets,
  expires_at: token.expiresAt,
});
