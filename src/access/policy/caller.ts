/** The caller, with what the access rules let it see and use. */
import { budgetsOf, type Budget } from './budget.ts';
import { type AccessState, createPolicy, type Holder, type Policy } from './policy.ts';
import type { Actor, Token } from '../../shared/identity/principal.ts';
/** The caller of one request: always passed as an argument, never looked up below the endpoints. */
export interface Caller extends Actor {
  policy: Policy;
  /** The URL that its token is valid for, including what is below it; null: every URL. */
  audience: string | null;
  /** The budgets that its calls count against; absent where there are none. */
  budgets?: readonly Budget[] | undefined;
}

/** Returns the caller that a stored token stands for, under the given rules. */
export function toCaller(token: Token, state: AccessState): Caller {
  const { principalId, id, audience, passkeyId } = token;
  const policy = createPolicy(holderOf(token), state);
  const budgets = budgetsOf(token, state.budgets);
  const scopes = new Set(token.scopes);
  const caller = { principalId, tokenId: id, passkeyId, scopes, policy, audience };
  return budgets ? { ...caller, budgets } : caller;
}

/** Returns what decisions need of a token. */
export function holderOf({ principalId, groups, scopes, servers, tools, toolsets }: Token): Holder {
  return { principalId, groups, isAdmin: scopes.includes('admin'), servers, tools, toolsets };
}
