/**
 * The allow-list of ask: create, read, delete. Each verb that writes is one act with its audit row. An entry is not edited: what is
 * allowed stands in the audit as it was made. It is read at each request, so it is obeyed at once.
 */
import type { Caller } from '../../access/policy/caller.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import { findUnknownPrincipals } from '../../access/principals/principal-store.ts';
import { toStoredServer } from '../../servers/server-names.ts';
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError, type FieldProblem } from '../../shared/errors/portico-error.ts';
import type { ListPage } from '../../shared/util/page.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import type { CreateEntry, StoredEntry } from './allowlist-schema.ts';
import {
  deleteEntry,
  findEntry,
  insertEntry,
  listEntries,
  MAX_ENTRIES,
  whenEntry,
  whenEntryPossible,
  type EntryPosition,
} from './allowlist-store.ts';

export class AllowlistService {
  readonly #db: D1Database;
  readonly #adminAudit: AdminAudit;

  constructor({ db, adminAudit }: { db: D1Database; adminAudit: AdminAudit }) {
    this.#db = db;
    this.#adminAudit = adminAudit;
  }

  /**
   * @param servers the registry, to resolve the server that is named exactly
   * @throws PorticoError `forbidden`, `validation_failed`, `conflict` where there are too many
   */
  create(
    caller: Caller,
    input: CreateEntry,
    servers: readonly NamedServer[],
  ): Promise<StoredEntry> {
    const id = crypto.randomUUID();
    const act = { action: 'ask_allowlist.create', subject: id };
    return this.#adminAudit.perform(caller, 'admin', act, async commit => {
      const { side_effects: sideEffects, ...given } = input;
      const server = await this.#check(input, servers);
      const createdAt = Date.now();
      const entry: StoredEntry = { ...given, id, server, sideEffects, revision: 1, createdAt };
      const isDone = await commit({
        when: whenEntryPossible(entry),
        statements: [insertEntry(this.#db, entry)],
        detail: toDetail(entry),
      });
      if (!isDone) {
        await this.#check(input, servers);
        throw new PorticoError('conflict', `There are ${MAX_ENTRIES} entries already`);
      }
      return entry;
    });
  }

  /** One page of the entries, newest first, and how many there are. @throws PorticoError `forbidden` */
  async list(
    caller: Caller,
    limit: number,
    after?: EntryPosition,
  ): Promise<ListPage<StoredEntry> & { total: number }> {
    requireScope(caller, 'admin');
    return listEntries(this.#db, limit, after);
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Caller, id: string): Promise<StoredEntry> {
    requireScope(caller, 'admin');
    return this.#find(id);
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  delete(caller: Caller, id: string): Promise<void> {
    const act = { action: 'ask_allowlist.delete', subject: id };
    return this.#adminAudit.perform(caller, 'admin', act, async commit => {
      const entry = await this.#find(id);
      const statements = [deleteEntry(this.#db, id)];
      const isDone = await commit({ when: whenEntry(id), statements, detail: toDetail(entry) });
      if (!isDone) throw notFound();
    });
  }

  async #find(id: string): Promise<StoredEntry> {
    const entry = await findEntry(this.#db, id);
    if (!entry) throw notFound();
    return entry;
  }

  /** @returns the server's pattern as it is stored */
  async #check(
    { server: pattern, subject }: CreateEntry,
    servers: readonly NamedServer[],
  ): Promise<string> {
    const problems: FieldProblem[] = [];
    const server = toStoredServer(pattern, servers);
    if (server === undefined) {
      const message = `there is no server ${pattern}; use "*" in a pattern over names`;
      problems.push({ field: 'server', message });
    }
    if (subject.kind === 'principal') {
      const unknown = await findUnknownPrincipals(this.#db, [subject.id]);
      const message = 'there is no such principal';
      if (unknown.length > 0) problems.push({ field: 'subject.id', message });
    }
    refuseFields(problems);
    return server ?? pattern;
  }
}

const notFound = () => new PorticoError('not_found', 'No such entry');

/** What the audit tells of an entry. */
function toDetail({ subject, server, tool, sideEffects }: StoredEntry): JsonObject {
  return { subject, server, tool, side_effects: sideEffects };
}
