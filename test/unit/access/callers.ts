/** Callers and their parts, without a database. */
import type { Caller } from '../../../src/access/policy/caller.ts';
import { createPolicy, type AccessState, type Holder } from '../../../src/access/policy/policy.ts';
import type { Scope } from '../../../src/shared/identity/principal.ts';

/** No rules, no toolsets, default access open. */
export const OPEN: AccessState = { defaultAccess: 'open', rules: [], toolsets: [] };

/** The holder of a token without limits. */
export function createHolder(more: Partial<Holder> = {}): Holder {
  const limits = { servers: null, tools: null, toolsets: null };
  return { principalId: 'p', groups: [], isAdmin: false, ...limits, ...more };
}

/** A caller with such a token. */
export function createCaller(
  more: Partial<Holder> = {},
  scopes: Scope[] = ['tools:read', 'tools:call'],
  state: AccessState = OPEN,
): Caller {
  const holder = createHolder(more);
  const policy = createPolicy(holder, state);
  const { principalId } = holder;
  return { principalId, tokenId: 't', scopes: new Set(scopes), policy, audience: null };
}
