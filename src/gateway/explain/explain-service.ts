/** Explains to administrators why a principal may use a tool or not: looks up what the question is about and explains that case. */
import { toCaller, type Caller } from '../../access/policy/caller.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { findAccountOf } from '../../servers/accounts/account-store.ts';
import { approvalId } from '../../servers/approvals/definition.ts';
import { findApprovals } from '../../servers/approvals/approval-list-store.ts';
import { ofNobody, withAccount } from '../../servers/registry/own-account.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { explainCase, type CasePorts, type Explained } from './explain-case.ts';
import type { AccessState } from '../../access/policy/policy.ts';
import { requireScope, SETUP_TOKEN } from '../../shared/identity/principal.ts';
import { findCaller } from '../../access/principals/principal-caller.ts';
import { findRecord } from '../../records/record-store.ts';
import { findNamed } from '../../servers/server-names.ts';
import { isExpired } from '../../access/tokens/token-schema.ts';
import { TOKENS } from '../../access/tokens/token-list-store.ts';

/** Whose access is explained: that of a token, or of a principal with a token without limits. */
export type Whose = { token: string } | { principal: string };

/** What is explained: a tool by its own name, at its server or at the endpoint of a toolset. */
export interface Question {
  server: string;
  tool: string;
  toolset?: string | undefined;
}

export interface ExplainPorts extends CasePorts {
  db: D1Database;
}

export interface Explanation extends Explained {
  server: Server;
  principalId: string;
  groups: readonly string[];
}

interface ExplainedCaller {
  caller: Caller;
  groups: readonly string[];
  isExpired: boolean;
}

export class ExplainService {
  readonly #ports: ExplainPorts;

  constructor(ports: ExplainPorts) {
    this.#ports = ports;
  }

  /**
   * Explains whether a principal or a token may use a tool, and why.
   * @param servers the registry
   * @throws PorticoError `forbidden`, `not_found` if token, principal, server or toolset do not exist
   */
  async explain(
    caller: Caller,
    whose: Whose,
    { server: key, tool, toolset: toolsetKey }: Question,
    servers: readonly Server[],
    state: AccessState,
  ): Promise<Explanation> {
    requireScope(caller, 'admin');
    const subject = await this.#subjectOf(whose, state);
    const server = findNamed(key, servers);
    if (!server) throw new PorticoError('not_found', 'No such server');
    const toolset = toolsetKey === undefined ? undefined : findNamed(toolsetKey, state.toolsets);
    if (toolsetKey !== undefined && !toolset)
      throw new PorticoError('not_found', 'No such toolset');
    const approvalState = await this.#approvalState(server.id, tool);
    const found = await explainCase(
      { ...subject, server: await this.#as(subject.caller, server), tool, approvalState, toolset },
      this.#ports,
    );
    return { ...found, server, principalId: subject.caller.principalId, groups: subject.groups };
  }

  /**
   * Returns the server with the account that the principal in question has or lacks, and without that of the administrator who asks; as a
   * shared one, so that no tool stands in for those that the principal has.
   */
  async #as({ principalId }: Caller, server: Server): Promise<Server> {
    const { accounts } = server;
    if (accounts === 'shared') return server;
    const account = await findAccountOf(this.#ports.db, server.id, { principalId });
    return { ...withAccount({ ...ofNobody(server), accounts }, account), accounts: 'shared' };
  }

  async #approvalState(serverId: string, tool: string) {
    const [approval] = await findApprovals(this.#ports.db, [
      await approvalId(serverId, 'tool', tool),
    ]);
    return approval?.state;
  }

  async #subjectOf(whose: Whose, state: AccessState): Promise<ExplainedCaller> {
    const { db, now } = this.#ports;
    if ('token' in whose) {
      const token =
        whose.token === SETUP_TOKEN.id ? SETUP_TOKEN : await findRecord(db, TOKENS, whose.token);
      if (!token) throw new PorticoError('not_found', 'No such token');
      const { groups } = token;
      return { caller: toCaller(token, state), groups, isExpired: isExpired(token, now()) };
    }
    const found = await findCaller(db, whose.principal, state);
    if (!found) throw new PorticoError('not_found', 'No such principal');
    return { ...found, isExpired: false };
  }
}
