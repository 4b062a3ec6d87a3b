/** A principal as a caller without a token: whom an administrator asks about, or who is signed in with a browser. */
import { findRecord } from '../../records/record-store.ts';
import { MEMBER_SCOPES } from '../../shared/identity/token.ts';
import type { Caller } from '../policy/caller.ts';
import { createPolicy, type AccessState, type Holder } from '../policy/policy.ts';
import { PRINCIPALS } from './principal-store.ts';

/** What one is narrowed to beside its rules. */
export type Limits = Pick<Holder, 'servers' | 'tools' | 'toolsets'>;
const NO_LIMITS: Limits = { servers: null, tools: null, toolsets: null };

/** @returns the caller with the principal's groups; undefined where the principal is gone */
export async function findCaller(
  db: D1Database,
  id: string,
  state: AccessState,
  limits = NO_LIMITS,
): Promise<{ caller: Caller; groups: readonly string[] } | undefined> {
  const principal = await findRecord(db, PRINCIPALS, id);
  if (!principal) return undefined;
  const groups = [...new Set([...principal.groups, ...principal.claimed_groups])];
  const scopes = new Set(principal.scopes ?? MEMBER_SCOPES);
  const isAdmin = scopes.has('admin');
  const policy = createPolicy({ principalId: id, groups, isAdmin, ...limits }, state);
  return { caller: { principalId: id, tokenId: '', scopes, policy, audience: null }, groups };
}
