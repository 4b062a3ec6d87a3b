/**
 * Previews what a rule or a toolset would change for people, before it is saved: applies the gateway's own decision to what servers offer
 * now.
 */
import {
  atToolset,
  changesFor,
  everywhere,
  selectionChange,
  type Changes,
  type GroupChange,
  type Offer,
  type NamedHolder,
  type Endpoint,
} from '../../access/policy/change.ts';
import type { Caller } from '../../access/policy/caller.ts';
import { viewOfToolset, type AccessState } from '../../access/policy/policy.ts';
import type { Subject } from '../../access/policy/rule.ts';
import { either, NOTHING, selectionOf, type View } from '../../access/policy/view.ts';
import { toHolder } from '../../access/principals/principal-caller.ts';
import { PRINCIPALS, whenSubject } from '../../access/principals/principal-store.ts';
import { checkNames } from '../../access/rules/checked-names.ts';
import type { CreateRule } from '../../access/rules/rule-schema.ts';
import type { CreateToolset } from '../../access/toolsets/toolset-schema.ts';
import { judgeToolset } from '../../access/toolsets/toolset-service.ts';
import { listRecords } from '../../records/record-store.ts';
import { isReadOnly, type Catalog } from '../../servers/catalog/catalog.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { withGone } from '../../servers/server-names.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { requireScope } from '../../shared/identity/principal.ts';

/** Most people that a preview covers, the newest first. */
export const MAX_PEOPLE = 1_000;
const BESIDE = ['resources', 'resourceTemplates', 'prompts'] as const;
/** Stands for the id of a record that does not exist yet. */
const NEW = 'new';

export interface PreviewPorts {
  db: D1Database;
  catalogsOf(servers: readonly Server[]): Promise<Catalog[]>;
}

/** The present state, from the caller's snapshot. */
export interface Now {
  servers: readonly Server[];
  access: AccessState;
}

export interface Preview extends Changes {
  /** How many people the change is about; may be more than the preview covers. */
  people: number;
}

export class PreviewService {
  readonly #ports: PreviewPorts;

  constructor(ports: PreviewPorts) {
    this.#ports = ports;
  }

  /**
   * @param rule undefined: the replaced rule is deleted
   * @param replaces id of the rule that it replaces
   * @throws PorticoError `forbidden`, `not_found`, `validation_failed`
   */
  async ofRule(
    caller: Caller,
    rule: CreateRule | undefined,
    replaces: string | undefined,
    { servers, access }: Now,
  ): Promise<Preview> {
    requireScope(caller, 'admin');
    const before = replaced(access.rules, replaces, 'No such rule');
    const named = withGone(servers, before ? [before.server] : []);
    const after = rule && {
      ...rule,
      id: replaces ?? NEW,
      server: await checkNames(this.#ports.db, rule, named),
      readOnly: rule.read_only,
    };
    const both = [before, after].filter(each => each !== undefined);
    const others = access.rules.filter(({ id }) => id !== replaces);
    const rules = after ? [...others, after] : others;
    // Items that match no pattern of either rule stay as they are.
    const concern = (server: Server) => selectionOf(server, both, []);
    const subjects = both.map(({ subject }) => subject);
    const states = [access, { ...access, rules }] as const;
    return this.#preview(subjects, everywhere, states, await this.#offers(servers, concern));
  }

  /**
   * @param toolset undefined: the replaced toolset is deleted
   * @returns also what the toolset itself gains and loses
   * @throws PorticoError `forbidden`, `not_found`, `validation_failed`
   */
  async ofToolset(
    caller: Caller,
    toolset: CreateToolset | undefined,
    replaces: string | undefined,
    { servers, access }: Now,
  ): Promise<Preview & { selection: GroupChange }> {
    requireScope(caller, 'admin');
    const before = replaced(access.toolsets, replaces, 'No such toolset');
    const id = replaces ?? NEW;
    const others = access.toolsets.filter(each => each.id !== replaces);
    const after = toolset && { ...(await this.#judge(toolset, before, servers)), id };
    const toolsets = after ? [...others, after] : others;
    const states = [access, { ...access, toolsets }] as const;
    const sets = [before, after].filter(each => each !== undefined);
    const concern = (server: Server) => either(sets.map(each => viewOfToolset(each, server)));
    const offers = await this.#offers(servers, concern);
    const found = await this.#preview([{ kind: 'everyone' }], atToolset(id), states, offers);
    return { ...found, selection: selectionChange(id, states, offers) };
  }

  /** @throws PorticoError `validation_failed` */
  async #judge(
    { name, description, ...given }: CreateToolset,
    before: AccessState['toolsets'][number] | undefined,
    servers: readonly Server[],
  ) {
    const { include = [], exclude = [], overrides = [], members } = before?.definition ?? {};
    const stored = [...include, ...exclude, ...overrides.map(({ server }) => server)];
    const named = withGone(servers, stored);
    const definition = await judgeToolset(this.#ports.db, given, named, members?.principals);
    return { name, description, definition };
  }

  async #preview(
    subjects: readonly Subject[],
    endpoint: Endpoint,
    states: readonly [AccessState, AccessState],
    offers: readonly Offer[],
  ): Promise<Preview> {
    const when = whenSubject(subjects);
    const { items, total } = await listRecords(this.#ports.db, PRINCIPALS, when, MAX_PEOPLE);
    const people = items.map((principal): NamedHolder => {
      return { name: principal.name, holder: toHolder(principal) };
    });
    return { ...changesFor(people, endpoint, states, offers), people: total };
  }

  /** Returns those items of the servers that a change is about. */
  async #offers(servers: readonly Server[], concern: (server: Server) => View): Promise<Offer[]> {
    const concerned = servers.filter(server => concern(server) !== NOTHING);
    const catalogs = await this.#ports.catalogsOf(concerned);
    return concerned.flatMap((server, i) => {
      const catalog = catalogs[i];
      return catalog ? [toOffer(server, catalog, concern(server))] : [];
    });
  }
}

function toOffer(server: Server, catalog: Catalog, concern: View): Offer {
  const tools = catalog.tools.items.flatMap(item => {
    const tool = { name: item.key, isReadOnly: isReadOnly(item) };
    return concern.tool(tool.name, tool.isReadOnly) ? [tool] : [];
  });
  const hasRest = BESIDE.some(kind => catalog[kind].items.length > 0);
  return { server, tools, hasRest: hasRest && concern.rest };
}

/** @throws PorticoError `not_found` */
function replaced<T extends { id: string }>(
  all: readonly T[],
  id: string | undefined,
  missing: string,
): T | undefined {
  const found = all.find(each => each.id === id);
  if (id !== undefined && !found) throw new PorticoError('not_found', missing);
  return found;
}
