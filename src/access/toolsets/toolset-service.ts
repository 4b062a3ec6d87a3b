/**
 * Toolsets: create, read, edit, delete. Each verb that writes is one act with its audit row. A definition in which two tools
 * would have one name, or that names what does not exist, is refused when it is written, so that none is ever served.
 */
import type { Caller } from '../policy/caller.ts';
import { refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ListPage } from '../../shared/util/page.ts';
import { editRecord, type AccessPorts } from '../../records/edit-with-revision.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import { requireScope } from '../../shared/identity/principal.ts';
import { findUnknownPrincipals } from '../principals/principal-store.ts';
import { withGone } from '../../servers/server-names.ts';
import type { Definition } from '../policy/toolset.ts';
import {
  deleteToolset,
  findToolset,
  insertToolset,
  listToolsetNames,
  listToolsets,
  MAX_TOOLSETS,
  MAX_TOOLSETS_CHARS,
  updateToolset,
  whenToolset,
  whenToolsetPossible,
  whenToolsetUnchanged,
} from './toolset-list-store.ts';
import {
  judgeDefinition,
  type CreateToolset,
  type StoredToolset,
  type UpdateToolset,
} from './toolset-schema.ts';

type DefinitionEdit = Omit<UpdateToolset, 'name' | 'description'>;

export class ToolsetService {
  readonly #ports: AccessPorts;

  constructor(ports: AccessPorts) {
    this.#ports = ports;
  }

  /**
   * @param servers the registry, to resolve servers that are named exactly
   * @throws PorticoError `forbidden`, `validation_failed`, `conflict` where the name is taken or there are too many
   */
  create(
    caller: Caller,
    { name, description, ...given }: CreateToolset,
    servers: readonly NamedServer[],
  ): Promise<StoredToolset> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    const id = crypto.randomUUID();
    const act = { action: 'toolset.create', subject: id };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const definition = await this.#judge(given, servers);
      const now = Date.now();
      const times = { createdAt: now, updatedAt: now };
      const toolset: StoredToolset = { id, name, description, definition, revision: 1, ...times };
      const isDone = await commit({
        when: whenToolsetPossible(toolset),
        statements: [insertToolset(db, toolset)],
        detail: { name },
      });
      if (!isDone) {
        await this.#checkFree(toolset);
        throw noRoom();
      }
      await onAccessChanged();
      return toolset;
    });
  }

  /** One page of the toolsets in the order of their names, and how many match. */
  async list(
    caller: Caller,
    name: string | undefined,
    limit: number,
    afterName?: string,
  ): Promise<ListPage<StoredToolset> & { total: number }> {
    requireScope(caller, 'admin');
    return listToolsets(this.#ports.db, name, limit, afterName);
  }

  /** @throws PorticoError `forbidden`, `not_found` */
  async get(caller: Caller, id: string): Promise<StoredToolset> {
    requireScope(caller, 'admin');
    return this.#find(id);
  }

  /**
   * Edit a toolset; a rename moves its URL.
   * @param ifRevision refuse where it is at another revision
   * @throws PorticoError `forbidden`, `not_found`, `validation_failed`, `conflict`, `precondition_failed`
   */
  update(
    caller: Caller,
    id: string,
    patch: UpdateToolset,
    servers: readonly NamedServer[],
    ifRevision?: number,
  ): Promise<StoredToolset> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    const act = { action: 'toolset.update', subject: id };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const find = () => this.#find(id);
      const after = await editRecord(find, ifRevision, async before => {
        const { name = before.name, description = before.description, ...given } = patch;
        const definition = await this.#edit(before.definition, given, servers);
        const updatedAt = Date.now();
        const toolset: StoredToolset = { ...before, name, description, definition, updatedAt };
        await this.#checkFree(toolset);
        return commit({
          when: whenToolsetUnchanged(toolset),
          statements: [updateToolset(db, toolset)],
          detail: { name, fields: Object.keys(patch).toSorted() },
        });
      });
      await onAccessChanged();
      return after;
    });
  }

  /** Delete a toolset; a token that is narrowed to it alone is left with nothing. */
  delete(caller: Caller, id: string): Promise<void> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    const act = { action: 'toolset.delete', subject: id };
    return adminAudit.perform(caller, 'admin', act, async commit => {
      const { name } = await this.#find(id);
      const statements = [deleteToolset(db, id)];
      const isDone = await commit({ when: whenToolset(id), statements, detail: { name } });
      if (!isDone) throw new PorticoError('not_found', 'No such toolset');
      await onAccessChanged();
    });
  }

  async #find(id: string): Promise<StoredToolset> {
    const toolset = await findToolset(this.#ports.db, id);
    if (!toolset) throw new PorticoError('not_found', 'No such toolset');
    return toolset;
  }

  /** The definition an edit makes; what it leaves as it was is not judged anew. */
  async #edit(
    before: Definition,
    edit: DefinitionEdit,
    servers: readonly NamedServer[],
  ): Promise<Definition> {
    const { include = before.include, exclude = before.exclude } = edit;
    const { overrides = before.overrides, members = before.members } = edit;
    const { name_style: style = before.name_style, tools = before.tools } = edit;
    const stored = [
      ...before.include,
      ...before.exclude,
      ...before.overrides.map(({ server }) => server),
    ];
    const after: Definition = {
      include,
      exclude,
      overrides,
      ...(style ? { name_style: style } : {}),
      ...(tools ? { tools } : {}),
      ...(members ? { members } : {}),
    };
    return this.#judge(after, withGone(servers, stored), before.members?.principals);
  }

  /**
   * @param kept principals that stay members, though they may be gone
   * @throws PorticoError `validation_failed` with every field that is not right
   */
  async #judge(
    given: Definition,
    servers: readonly NamedServer[],
    kept: readonly string[] = [],
  ): Promise<Definition> {
    const { definition, problems } = judgeDefinition(given, servers);
    const added = (given.members?.principals ?? []).filter(id => !kept.includes(id));
    const unknown = added.length > 0 ? await findUnknownPrincipals(this.#ports.db, added) : [];
    const message = `there is no principal ${unknown.join(', ')}`;
    const field = 'members.principals';
    refuseFields(unknown.length > 0 ? [...problems, { field, message }] : problems);
    return definition;
  }

  /** @throws PorticoError `conflict` where the name is taken by another, or there is no room */
  async #checkFree({ id, name, definition }: StoredToolset): Promise<void> {
    const all = await listToolsetNames(this.#ports.db);
    const others = all.filter(other => other.id !== id);
    const isTaken = others.some(other => other.name.toLowerCase() === name.toLowerCase());
    if (isTaken) throw new PorticoError('conflict', `A toolset named ${name} exists already`);
    const chars = others.reduce(
      (sum, other) => sum + other.chars,
      JSON.stringify(definition).length,
    );
    if (others.length >= MAX_TOOLSETS || chars > MAX_TOOLSETS_CHARS) throw noRoom();
  }
}

const noRoom = () =>
  new PorticoError(
    'conflict',
    `There is no room: ${MAX_TOOLSETS} toolsets with ${MAX_TOOLSETS_CHARS} characters of definitions at most`,
  );
