/** A principal as a caller without a token: one that an administrator asks about, or one that is signed in with a browser. */
import { findRecord } from '../../records/record-store.ts';
import { MEMBER_SCOPES, type Scope } from '../../shared/identity/principal.ts';
import { budgetsOf } from '../policy/budget.ts';
import type { Caller } from '../policy/caller.ts';
import { createPolicy, type AccessState, type Holder } from '../policy/policy.ts';
import type { Principal } from './principal-schema.ts';
import { PRINCIPALS } from './principal-store.ts';

/** What limits a principal beside its rules. */
export interface Limits extends Pick<Holder, 'servers' | 'tools' | 'toolsets'> {
  /** The scopes of what it came by, within its own; absent: its own. */
  scopes?: readonly Scope[];
}
const NO_LIMITS: Limits = { servers: null, tools: null, toolsets: null };

/** Returns a principal as decisions see it, with all its groups. */
export function toHolder(
  principal: Principal,
  { servers, tools, toolsets, ...limits }: Limits = NO_LIMITS,
): Holder {
  const groups = [...new Set([...principal.groups, ...principal.claimed_groups])];
  const isAdmin = scopesOf(principal, limits).includes('admin');
  return { principalId: principal.id, groups, isAdmin, servers, tools, toolsets };
}

const scopesOf = (principal: Principal, { scopes }: Pick<Limits, 'scopes'>): readonly Scope[] =>
  scopes ?? principal.scopes ?? MEMBER_SCOPES;

/** @returns the caller and the principal's groups; undefined where the principal was deleted */
export async function findCaller(
  db: D1Database,
  id: string,
  state: AccessState,
  limits = NO_LIMITS,
): Promise<{ caller: Caller; groups: readonly string[] } | undefined> {
  const principal = await findRecord(db, PRINCIPALS, id);
  if (!principal) return undefined;
  const holder = toHolder(principal, limits);
  const policy = createPolicy(holder, state);
  const scopes = new Set(scopesOf(principal, limits));
  const budgets = budgetsOf(holder, state.budgets);
  return {
    caller: { principalId: id, tokenId: '', scopes, policy, audience: null, budgets },
    groups: holder.groups,
  };
}
