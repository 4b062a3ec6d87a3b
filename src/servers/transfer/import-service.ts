/**
 * Imports servers from a file: plans the whole file, then applies it entry by entry, each as an administrative act with its own audit row.
 * If anything in the file is invalid, nothing is written, so that a file can be corrected and sent again. New secrets are stored
 * before the server that refers to them, and deleted again if the server cannot be written; those that the server has already are replaced
 * after it, so that none is lost with an edit that fails.
 */
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { type Actor, requireScope } from '../../shared/identity/principal.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import {
  PorticoError,
  toPorticoError,
  type FieldProblem,
} from '../../shared/errors/portico-error.ts';
import { yieldToRequests } from '../../shared/util/yield-to-requests.ts';
import type { SecretService } from '../../credentials/secret-service.ts';
import { findSecrets, listSecrets, listSecretUsers } from '../../credentials/secret-store.ts';
import { checkCredential } from '../../credentials/credential.ts';
import { NO_CREDENTIAL } from '../../credentials/credential-schema.ts';
import { planImport, toFileField, type ConflictRule, type PlannedEntry } from './import-plan.ts';
import type { NewSecret } from './import-secrets.ts';
import type { McpEntry } from './mcp-entry.ts';
import { parseMcpJson } from './mcp-json.ts';
import { keptCredential } from '../registry/server-edit.ts';
import type { CreateServer, Server, UpdateServer } from '../registry/server-schema.ts';
import type { ServerService } from '../registry/server-service.ts';
import { parseServers, selectServers } from '../registry/server-store.ts';

export interface ImportPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  servers: ServerService;
  secrets: SecretService;
  allowsLoopback: boolean;
}

export interface ImportOptions {
  dryRun: boolean;
  onConflict: ConflictRule;
}

/** Result of an entry. */
export interface ImportedEntry extends PlannedEntry {
  serverId?: string;
  /** Why it failed after the plan was valid. */
  error?: PorticoError;
}

/** Maximum number of entries in one file: each needs several writes, and a request may make a thousand. */
const MAX_ENTRIES = 100;

export class ImportService {
  readonly #ports: ImportPorts;

  constructor(ports: ImportPorts) {
    this.#ports = ports;
  }

  /**
   * Imports the text of a file, or reports what an import would do.
   * @throws PorticoError `forbidden`, `validation_failed` with every field, `conflict` if the rule is `fail` and names are taken
   */
  import(caller: Actor, text: string, options: ImportOptions): Promise<ImportedEntry[]> {
    const entries = readEntries(text);
    const act = { action: 'server.import', subject: 'file' };
    return this.#ports.adminAudit.perform(caller, 'servers:write', act, async () => {
      const planned = await this.#plan(caller, entries, options);
      if (options.dryRun) return planned;
      refuseInvalid(planned);
      const done: ImportedEntry[] = [];
      for (const entry of planned) {
        done.push(await this.#do(caller, entry));
        await yieldToRequests();
      }
      return done;
    });
  }

  async #plan(
    caller: Actor,
    entries: readonly McpEntry[],
    { onConflict }: ImportOptions,
  ): Promise<PlannedEntry[]> {
    const { db, allowsLoopback } = this.#ports;
    const { results } = await selectServers(db).all();
    const byName = new Map(
      parseServers(results).map(server => [server.name.toLowerCase(), server]),
    );
    const usersOf = await this.#secretUsers();
    const planned = planImport(entries, {
      find: name => byName.get(name.toLowerCase()),
      onConflict,
      allowsLoopback,
      isFree: (secret, server) => usersOf(secret)?.every(user => user === server?.id) ?? true,
    });
    if (planned.some(({ secrets }) => secrets.length > 0)) requireScope(caller, 'secrets:write');
    return Promise.all(planned.map(entry => this.#checkReferences(entry)));
  }

  /**
   * Finds the servers that use a stored secret; undefined if no secret has the name. An unused secret counts as used by `nobody`, so that
   * an import never takes it over.
   */
  async #secretUsers(): Promise<(secret: string) => readonly string[] | undefined> {
    const { db } = this.#ports;
    const [secrets, users] = await Promise.all([listSecrets(db), listSecretUsers(db)]);
    const known = new Map(secrets.map(({ name }) => [name, [] as string[]]));
    for (const { id, names } of users) for (const name of names) known.get(name)?.push(id);
    return name => {
      const ids = known.get(name);
      return ids?.length === 0 ? ['nobody'] : ids;
    };
  }

  /** Checks that the secrets that the file refers to, and those that stay, exist and may be sent to the server. */
  async #checkReferences(entry: PlannedEntry): Promise<PlannedEntry> {
    const { input, existing, secrets } = entry;
    if (!input || (entry.action !== 'create' && entry.action !== 'update')) return entry;
    const { url, headers, auth } = input.connection_config;
    const isNew = (value: string) => secrets.some(({ name }) => value.endsWith(`\${${name}}`));
    const others = Object.entries(headers ?? {}).filter(([, value]) => !isNew(value));
    const given = { auth, ...(headers ? { headers: Object.fromEntries(others) } : {}) };
    const owner = { id: existing?.id ?? '', url };
    const before = existing ? keptCredential(existing, url) : NO_CREDENTIAL;
    try {
      await checkCredential(this.#ports, owner, before, given);
      return entry;
    } catch (thrown) {
      const { code, extras } = toPorticoError(thrown);
      if (code !== 'validation_failed') throw thrown;
      const problems = (extras.fields ?? []).map(({ field, message }) => {
        return { field: toFileField(entry, field), message };
      });
      return { ...entry, action: 'invalid', problems, secrets: [] };
    }
  }

  async #do(caller: Actor, entry: PlannedEntry): Promise<ImportedEntry> {
    const { input, existing } = entry;
    const isDone = entry.action === 'create' || entry.action === 'update';
    if (!isDone || !input) return existing ? { ...entry, serverId: existing.id } : entry;
    const { db, servers, secrets } = this.#ports;
    const added: string[] = [];
    const put = ({ name, value, origin }: NewSecret) =>
      secrets.put(caller, name, { value, origins: [origin] });
    try {
      const names = entry.secrets.map(({ name }) => name);
      const known = new Set((await findSecrets(db, names)).map(({ name }) => name));
      for (const secret of entry.secrets.filter(({ name }) => !known.has(name))) {
        await put(secret);
        added.push(secret.name);
      }
      const server = existing
        ? await servers.update(caller, existing.id, toPatch(input, existing, entry.named))
        : await servers.create(caller, input);
      for (const secret of entry.secrets.filter(({ name }) => known.has(name))) await put(secret);
      return { ...entry, serverId: server.id };
    } catch (thrown) {
      const error = toPorticoError(thrown);
      // One that the server refers to by now is not deleted.
      for (const name of added) await secrets.delete(caller, name).catch(ignore);
      return { ...entry, action: 'failed', error };
    }
  }
}

/** A secret that could not be deleted stays in the list of secrets, unused. */
const ignore = () => undefined;

/** Builds an edit that makes a server match the file; fields that the file leaves out stay. */
function toPatch(
  input: CreateServer,
  existing: Server,
  named: ReadonlySet<string> = new Set(),
): UpdateServer {
  const { name: _, description, auto_connect, accounts, ...rest } = input;
  return {
    ...rest,
    ...(named.has('description') ? { description } : {}),
    // The file can switch auto-connect off, but not on.
    auto_connect: auto_connect && existing.autoConnect,
    ...(named.has('accounts') ? { accounts } : {}),
  };
}

/** @throws PorticoError `validation_failed` */
function readEntries(text: string): McpEntry[] {
  const parsed = parseMcpJson(text);
  const problem = (message: string) => fieldProblem('(body)', message, `The file ${message}`);
  if ('problem' in parsed) throw problem(parsed.problem);
  if (parsed.entries.length <= MAX_ENTRIES) return parsed.entries;
  throw problem(`has more than ${MAX_ENTRIES} servers; split it`);
}

/** @throws PorticoError with every problem of the file */
function refuseInvalid(planned: readonly PlannedEntry[]): void {
  const invalid = planned.filter(({ action }) => action === 'invalid');
  const fields: FieldProblem[] = invalid.flatMap(({ problems }) => problems);
  const [first] = fields;
  if (!first) return;
  const isOnlyTaken = invalid.every(({ isTaken }) => isTaken);
  const code = isOnlyTaken ? 'conflict' : 'validation_failed';
  throw new PorticoError(code, `${first.field}: ${first.message}`, { fields });
}
