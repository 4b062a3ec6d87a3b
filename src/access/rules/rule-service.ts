/**
 * Access rules: create, read, edit, delete. Each verb that writes is one act with its audit row. What rules mean for a caller is
 * decided elsewhere; here they are well formed, of servers and principals that exist, and few enough to be judged at each request.
 */
import type { Caller } from '../policy/caller.ts';
import { refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError, type FieldProblem } from '../../shared/errors/portico-error.ts';
import type { ListPage } from '../../shared/util/page.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { editRecord, type AccessPorts } from '../../records/edit-with-revision.ts';
import { matchesServer, type NamedServer } from '../../shared/util/name-pattern.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import { findUnknownPrincipals } from '../principals/principal-store.ts';
import type { Subject } from '../policy/rule.ts';
import {
  deleteRule,
  findRule,
  insertRule,
  listRules,
  listServerPatterns,
  MAX_RULES,
  updateRule,
  whenRule,
  whenRulePossible,
  whenRuleUnchanged,
  type RulePosition,
} from './rule-list-store.ts';
import type { CreateRule, StoredRule, UpdateRule } from './rule-schema.ts';
import { findNamed, toStoredServer, withGone } from '../../servers/server-names.ts';

/** Which rules an administrator looks for. */
export interface RuleQuery {
  subjectKind?: Subject['kind'] | undefined;
  /** Name of a group or id of a principal. */
  subject?: string | undefined;
  /** Name or id of a server whose rules are wanted. */
  server?: string | undefined;
}

export class RuleService {
  readonly #ports: AccessPorts;

  constructor(ports: AccessPorts) {
    this.#ports = ports;
  }

  /**
   * @param servers the registry, to resolve the server that is named exactly
   * @throws PorticoError `forbidden`, `validation_failed`, `conflict` where there are too many
   */
  create(caller: Caller, input: CreateRule, servers: readonly NamedServer[]): Promise<StoredRule> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    const id = crypto.randomUUID();
    return adminAudit.perform(
      caller,
      'admin',
      { action: 'rule.create', subject: id },
      async commit => {
        const { read_only: readOnly, ...given } = input;
        const now = Date.now();
        const server = await this.#check(input, servers);
        const times = { createdAt: now, updatedAt: now };
        const rule: StoredRule = { ...given, id, server, readOnly, revision: 1, ...times };
        const isDone = await commit({
          when: whenRulePossible(rule),
          statements: [insertRule(db, rule)],
          detail: toDetail(rule),
        });
        if (!isDone) {
          await this.#check(input, servers);
          throw tooMany();
        }
        await onAccessChanged();
        return rule;
      },
    );
  }

  /**
   * One page of the rules, newest first, and how many match.
   * @param servers the registry; a rule is of a server that its pattern stands for
   */
  async list(
    caller: Caller,
    { server: key, ...query }: RuleQuery,
    servers: readonly NamedServer[],
    limit: number,
    after?: RulePosition,
  ): Promise<ListPage<StoredRule> & { total: number }> {
    requireScope(caller, 'admin');
    const { db } = this.#ports;
    if (key === undefined) return listRules(db, query, limit, after);
    const server = findNamed(key, servers);
    if (!server) return listRules(db, { ...query, patterns: [] }, limit, after);
    const all = await listServerPatterns(db);
    const patterns = all.filter(pattern => matchesServer(pattern, server));
    return listRules(db, { ...query, patterns }, limit, after);
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Caller, id: string): Promise<StoredRule> {
    requireScope(caller, 'admin');
    return this.#find(id);
  }

  /**
   * Edit a rule; it is obeyed within a second.
   * @param ifRevision refuse where it is at another revision
   * @throws PorticoError `forbidden`, `not_found`, `validation_failed`, `precondition_failed`
   */
  update(
    caller: Caller,
    id: string,
    patch: UpdateRule,
    servers: readonly NamedServer[],
    ifRevision?: number,
  ): Promise<StoredRule> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    return adminAudit.perform(
      caller,
      'admin',
      { action: 'rule.update', subject: id },
      async commit => {
        const find = () => this.#find(id);
        const after = await editRecord(find, ifRevision, async before => {
          const { read_only: readOnly = before.readOnly, ...given } = patch;
          const server = await this.#check(given, withGone(servers, [before.server]));
          const rule: StoredRule = {
            ...before,
            effect: given.effect ?? before.effect,
            subject: given.subject ?? before.subject,
            server: given.server === undefined ? before.server : server,
            tool: given.tool ?? before.tool,
            description: given.description ?? before.description,
            readOnly,
            updatedAt: Date.now(),
          };
          return commit({
            when: whenRuleUnchanged(rule),
            statements: [updateRule(db, rule)],
            detail: toDetail(rule),
          });
        });
        await onAccessChanged();
        return after;
      },
    );
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  delete(caller: Caller, id: string): Promise<void> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    return adminAudit.perform(
      caller,
      'admin',
      { action: 'rule.delete', subject: id },
      async commit => {
        const rule = await this.#find(id);
        const statements = [deleteRule(db, id)];
        const isDone = await commit({ when: whenRule(id), statements, detail: toDetail(rule) });
        if (!isDone) throw new PorticoError('not_found', 'No such rule');
        await onAccessChanged();
      },
    );
  }

  async #find(id: string): Promise<StoredRule> {
    const rule = await findRule(this.#ports.db, id);
    if (!rule) throw new PorticoError('not_found', 'No such rule');
    return rule;
  }

  /** @returns the server's pattern as it is stored; `*` where none is given */
  async #check(
    { server: pattern = '*', subject }: UpdateRule,
    servers: readonly NamedServer[],
  ): Promise<string> {
    const problems: FieldProblem[] = [];
    const server = toStoredServer(pattern, servers);
    if (server === undefined) {
      const message = `there is no server ${pattern}; use "*" in a pattern over names`;
      problems.push({ field: 'server', message });
    }
    if (subject?.kind === 'principal') {
      const unknown = await findUnknownPrincipals(this.#ports.db, [subject.id]);
      const message = 'there is no such principal';
      if (unknown.length > 0) problems.push({ field: 'subject.id', message });
    }
    refuseFields(problems);
    return server ?? pattern;
  }
}

const tooMany = () => new PorticoError('conflict', `There are ${MAX_RULES} rules already`);

/** What the audit tells of a rule. */
function toDetail({ effect, subject, server, tool, readOnly }: StoredRule): JsonObject {
  return { effect, subject, server, tool, read_only: readOnly };
}
