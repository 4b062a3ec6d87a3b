/**
 * Administrators' operations on the skills of tools: list them with confidence and reason, correct a tool by hand, withdraw a correction,
 * have a server's tools classified again. Each write is one audited change; the server's monitor does the classification.
 */
import type { Caller } from '../../access/policy/caller.ts';
import { administers, requireServerScope } from '../../shared/identity/principal.ts';
import type { AdminAudit } from '../../audit/admin-audit.ts';
import type { Condition } from '../../audit/audit-store.ts';
import type { Catalog } from '../../servers/catalog/catalog.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { fromRawMembers } from '../../shared/json/json-spans.ts';
import { fingerprintOf } from '../../servers/approvals/definition.ts';
import { findServer, whenStatus } from '../../servers/registry/server-store.ts';
import { ServerStatusSchema } from '../../servers/registry/status.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import {
  correctAssignment,
  listAssignments,
  renewAssignments,
  touchServerSkills,
  whenCorrected,
  withdrawCorrection,
  type Assignment,
} from './assignment-store.ts';
import { whenSkills } from './skill-store.ts';
import { MAX_TOOL_NAME_CHARS } from './skill-prompts.ts';

export interface CorrectionPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  catalogOf(server: Server): Catalog | Promise<Catalog>;
  invalidateRegistry(): void;
  /** Makes the server's monitor run a check cycle soon. */
  wake(serverId: string): Promise<void>;
}

/** Longest tool name in an audit row, in characters. */
const MAX_NAME_CHARS = 200;

export class CorrectionService {
  readonly #ports: CorrectionPorts;

  constructor(ports: CorrectionPorts) {
    this.#ports = ports;
  }

  /** Lists the assignments of a server's tools, sorted by name. @throws PorticoError `forbidden`, `not_found` */
  async list(caller: Caller, serverId: string): Promise<Assignment[]> {
    requireServerScope(caller, 'servers:read');
    await this.#find(caller, serverId);
    const rows = await listAssignments(this.#ports.db, serverId);
    return rows.toSorted((a, b) => (a.tool < b.tool ? -1 : 1));
  }

  /**
   * Assigns skills to a tool by hand. They stay whatever becomes of its definition, until the correction is withdrawn.
   * @param skillIds the first is the primary one
   * @throws PorticoError `forbidden`, `not_found`, `validation_failed` where a skill does not exist
   */
  async correct(
    caller: Caller,
    serverId: string,
    tool: string,
    skillIds: readonly string[],
  ): Promise<Assignment> {
    const { db, adminAudit, catalogOf } = this.#ports;
    const act = { action: 'tool.correct', subject: serverId, isOfServers: true } as const;
    const corrected = await adminAudit.perform(caller, 'servers:write', act, async commit => {
      const item = (await catalogOf(await this.#find(caller, serverId))).tools.byKey.get(tool);
      if (!item || tool.length > MAX_TOOL_NAME_CHARS) throw noTool();
      const fingerprint = await fingerprintOf(fromRawMembers(item.raw));
      const skills = skillIds.map(id => ({ id, confidence: 1 }));
      const when = all(isThere(serverId), whenSkills(skillIds));
      const isDone = await commit({
        when,
        statements: [
          correctAssignment(db, serverId, { tool, fingerprint, skills }, when, Date.now()),
          touchServerSkills(db, serverId),
        ],
        detail: { tool: tool.slice(0, MAX_NAME_CHARS), skills: [...skillIds] },
      });
      if (!isDone) {
        await this.#find(caller, serverId);
        throw fieldProblem('skill_ids', 'names an unknown skill');
      }
      return { tool, fingerprint, skills, reason: null, source: 'hand' as const, madeFor: '' };
    });
    await this.#changed(serverId);
    return corrected;
  }

  /** Withdraws a correction; the tool is classified again. @throws PorticoError `forbidden`, `not_found` where it was not corrected */
  async withdraw(caller: Caller, serverId: string, tool: string): Promise<void> {
    const { db, adminAudit } = this.#ports;
    const act = {
      action: 'tool.withdraw_correction',
      subject: serverId,
      isOfServers: true,
    } as const;
    await adminAudit.perform(caller, 'servers:write', act, async commit => {
      if (!(await this.#mayFind(caller, serverId))) throw noTool();
      const isDone = await commit({
        when: whenCorrected(serverId, tool),
        statements: [withdrawCorrection(db, serverId, tool), touchServerSkills(db, serverId)],
        detail: { tool: tool.slice(0, MAX_NAME_CHARS) },
      });
      if (!isDone) throw noTool();
    });
    await this.#changed(serverId);
  }

  /** Has all tools that were not corrected classified again. @throws PorticoError `forbidden`, `not_found` */
  async classify(caller: Caller, serverId: string): Promise<void> {
    const { db, adminAudit } = this.#ports;
    const act = { action: 'server.classify', subject: serverId, isOfServers: true } as const;
    await adminAudit.perform(caller, 'servers:write', act, async commit => {
      await this.#find(caller, serverId);
      const isDone = await commit({
        when: isThere(serverId),
        statements: [renewAssignments(db, serverId), touchServerSkills(db, serverId)],
      });
      if (!isDone) throw noServer();
    });
    await this.#changed(serverId);
  }

  async #changed(serverId: string): Promise<void> {
    this.#ports.invalidateRegistry();
    // The change is made: a monitor that cannot be woken follows it with its next cycle.
    await this.#ports.wake(serverId).catch(() => {});
  }

  /** @throws PorticoError `not_found` where the server does not exist or the caller does not administer it */
  async #find(caller: Caller, serverId: string): Promise<Server> {
    const server = await this.#mayFind(caller, serverId);
    if (!server) throw noServer();
    return server;
  }

  async #mayFind(caller: Caller, serverId: string): Promise<Server | undefined> {
    const server = await findServer(this.#ports.db, serverId);
    return server && administers(caller, server) ? server : undefined;
  }
}

const isThere = (serverId: string): Condition => whenStatus(serverId, ServerStatusSchema.options);
const all = (a: Condition, b: Condition): Condition => ({
  sql: `(${a.sql}) AND (${b.sql})`,
  params: [...a.params, ...b.params],
});
const noServer = () => new PorticoError('not_found', 'No such server');
const noTool = () => new PorticoError('not_found', 'No such tool, or it was not corrected');
