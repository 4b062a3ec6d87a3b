/** Why somebody may use a tool or not, for administrators. Decides with the very policy that requests are decided with. */
import { PorticoError } from '../errors/portico-error.ts';
import { findNamed } from './server-names.ts';
import type { NamedServer } from './pattern.ts';
import { createPolicy, type AccessState, type Holder, type Verdict } from './policy.ts';
import { holderOf, requireScope, type Caller } from './principal.ts';
import type { Server } from '../registry/server-schema.ts';
import { findPrincipal } from './principal-store.ts';
import { findToken } from './token-list-store.ts';

/** Whose right is asked for: a token's, or that of a principal with a token without limits. */
export type Whose = { token: string } | { principal: string };

/** What is asked about: a tool by its own name. */
export interface Question {
  server: string;
  tool: string;
}

export interface ExplainPorts {
  db: D1Database;
  /** Whether a tool says that it changes nothing; undefined where the server has no such tool now. */
  isReadOnly(server: Server, tool: string): Promise<boolean | undefined>;
}

export interface Explanation extends Verdict {
  server: NamedServer;
  /** Undefined where the server has no such tool now: decided as for one that is not read-only. */
  isReadOnly: boolean | undefined;
  principalId: string;
  groups: readonly string[];
}

export class ExplainService {
  readonly #ports: ExplainPorts;

  constructor(ports: ExplainPorts) {
    this.#ports = ports;
  }

  /**
   * @param servers the registry
   * @throws PorticoError `forbidden`, `not_found` where token, principal or server do not exist
   */
  async explain(
    caller: Caller,
    whose: Whose,
    { server: key, tool }: Question,
    servers: readonly Server[],
    state: AccessState,
  ): Promise<Explanation> {
    requireScope(caller, 'admin');
    const holder = await this.#holder(whose);
    const server = findNamed(key, servers);
    if (!server) throw new PorticoError('not_found', 'No such server');
    const isReadOnly = await this.#ports.isReadOnly(server, tool);
    const verdict = createPolicy(holder, state).explain(server, tool, isReadOnly ?? false);
    const { principalId, groups } = holder;
    return { ...verdict, server, isReadOnly, principalId, groups };
  }

  async #holder(whose: Whose): Promise<Holder> {
    const { db } = this.#ports;
    if ('token' in whose) {
      const token = await findToken(db, whose.token);
      if (!token) throw new PorticoError('not_found', 'No such token');
      return holderOf(token);
    }
    const principal = await findPrincipal(db, whose.principal);
    if (!principal) throw new PorticoError('not_found', 'No such principal');
    const { id: principalId, groups, scopes } = principal;
    const isAdmin = scopes?.includes('admin') ?? false;
    return { principalId, groups, isAdmin, servers: null, tools: null, toolsets: null };
  }
}
