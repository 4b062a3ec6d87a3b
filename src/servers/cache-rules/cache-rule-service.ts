/**
 * Rules of the result cache: create, read, edit, delete. Each verb that writes is one act with its audit row. What is kept under a rule
 * that was edited or deleted is not found again.
 */
import { editRecord } from '../../audit/edit-with-revision.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import { type Actor, requireScope } from '../../shared/identity/principal.ts';
import { findNamed } from '../server-names.ts';
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ListPage } from '../../shared/util/page.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { CreateCacheRule, StoredCacheRule, UpdateCacheRule } from './cache-rule-schema.ts';
import {
  deleteCacheRule,
  findCacheRule,
  hasCacheRule,
  insertCacheRule,
  listCacheRules,
  MAX_CACHE_RULES,
  updateCacheRule,
  whenCacheRule,
  whenCacheRulePossible,
  whenCacheRuleUnchanged,
  type CacheRulePosition,
} from './cache-rule-store.ts';

export interface CacheRulePorts {
  db: D1Database;
  adminAudit: AdminAudit;
  /** The registry was changed: what is remembered of it here is too old. */
  invalidateRegistry(): void;
}

export class CacheRuleService {
  readonly #ports: CacheRulePorts;

  constructor(ports: CacheRulePorts) {
    this.#ports = ports;
  }

  /**
   * @param servers the registry, to resolve the server
   * @throws PorticoError `forbidden`, `validation_failed`, `conflict` where the server has a rule for these tools or there are too many
   */
  create(
    caller: Actor,
    input: CreateCacheRule,
    servers: readonly NamedServer[],
  ): Promise<StoredCacheRule> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const id = crypto.randomUUID();
    const act = { action: 'cache_rule.create', subject: id };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const serverId = findNamed(input.server, servers)?.id ?? '';
      const message = `there is no server ${input.server}`;
      refuseFields(serverId === '' ? [{ field: 'server', message }] : []);
      const now = Date.now();
      const rule: StoredCacheRule = {
        id,
        serverId,
        tool: input.tool,
        ttlMs: input.ttl_seconds * 1_000,
        isPublic: input.public,
        description: input.description,
        revision: 1,
        createdAt: now,
        updatedAt: now,
      };
      const isDone = await commit({
        when: whenCacheRulePossible(rule),
        statements: [insertCacheRule(db, rule)],
        detail: toDetail(rule),
      });
      if (!isDone) throw await this.#whyNot(rule);
      invalidateRegistry();
      return rule;
    });
  }

  /**
   * One page of the rules, newest first, and how many match.
   * @param server name or id of a server whose rules are wanted
   */
  async list(
    caller: Actor,
    server: string | undefined,
    servers: readonly NamedServer[],
    limit: number,
    after?: CacheRulePosition,
  ): Promise<ListPage<StoredCacheRule> & { total: number }> {
    requireScope(caller, 'admin');
    const serverId = server === undefined ? undefined : (findNamed(server, servers)?.id ?? '');
    return listCacheRules(this.#ports.db, serverId, limit, after);
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Actor, id: string): Promise<StoredCacheRule> {
    requireScope(caller, 'admin');
    return this.#find(id);
  }

  /**
   * Edit a rule; it is obeyed within a second.
   * @param ifRevision refuse where it is at another revision
   * @throws PorticoError `forbidden`, `not_found`, `precondition_failed`
   */
  update(
    caller: Actor,
    id: string,
    patch: UpdateCacheRule,
    ifRevision?: number,
  ): Promise<StoredCacheRule> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const act = { action: 'cache_rule.update', subject: id };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const after = await editRecord(
        () => this.#find(id),
        ifRevision,
        before => {
          const { ttl_seconds: seconds, public: isPublic, description } = patch;
          const rule: StoredCacheRule = {
            ...before,
            ttlMs: seconds === undefined ? before.ttlMs : seconds * 1_000,
            isPublic: isPublic ?? before.isPublic,
            description: description ?? before.description,
            updatedAt: Date.now(),
          };
          return commit({
            when: whenCacheRuleUnchanged(rule),
            statements: [updateCacheRule(db, rule)],
            detail: toDetail(rule),
          });
        },
      );
      invalidateRegistry();
      return after;
    });
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  delete(caller: Actor, id: string): Promise<void> {
    const { db, adminAudit, invalidateRegistry } = this.#ports;
    const act = { action: 'cache_rule.delete', subject: id };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const rule = await this.#find(id);
      const statements = [deleteCacheRule(db, id)];
      const isDone = await commit({ when: whenCacheRule(id), statements, detail: toDetail(rule) });
      if (!isDone) throw gone();
      invalidateRegistry();
    });
  }

  async #find(id: string): Promise<StoredCacheRule> {
    const rule = await findCacheRule(this.#ports.db, id);
    if (!rule) throw gone();
    return rule;
  }

  async #whyNot({ serverId, tool }: StoredCacheRule): Promise<PorticoError> {
    const isTaken = await hasCacheRule(this.#ports.db, serverId, tool);
    const taken = 'The server has a rule for these tools already';
    return new PorticoError(
      'conflict',
      isTaken ? taken : `There are ${MAX_CACHE_RULES} rules already, or the server is gone`,
    );
  }
}

const gone = () => new PorticoError('not_found', 'No such rule');

/** What the audit tells of a rule. */
function toDetail({ serverId, tool, ttlMs, isPublic }: StoredCacheRule): JsonObject {
  return { server_id: serverId, tool, ttl_seconds: ttlMs / 1_000, public: isPublic };
}
