/** The servers that a person signed in with a browser may use, by the same policy as their next call. */
import { findCaller } from '../access/principals/principal-caller.ts';
import type { Registry } from '../access/admission/registry.ts';
import { NOTHING } from '../access/policy/view.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import type { SignedIn } from './signed-in.ts';

export interface ReachablePorts {
  db: D1Database;
  /** Current servers and access rules. */
  registry(): Promise<Registry>;
}

export type ReachableServers = (signedIn: SignedIn) => Promise<readonly Server[]>;

export const createReachableServers =
  ({ db, registry }: ReachablePorts): ReachableServers =>
  async signedIn => {
    const { servers, access } = await registry();
    const { principalId, servers: only, tools, toolsets, scopes } = signedIn;
    const limits = { servers: only, tools, toolsets, scopes };
    const found = await findCaller(db, principalId, access, limits);
    const { policy } = found?.caller ?? {};
    return policy ? servers.filter(server => policy.viewOf(server) !== NOTHING) : [];
  };
