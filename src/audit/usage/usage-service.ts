/** How many calls were made, by day, principal, group, server and tool (OPS-7). Callers who do not administer see only their own. */
import { type Actor, administersAll, requireScope } from '../../shared/identity/principal.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { toQualifiedName } from '../../shared/naming/qualified-name.ts';
import { toListPage, type ListPage } from '../../shared/util/page.ts';
import { timeOfId } from '../../shared/util/time-id.ts';
import { ID_FORM, subjectsOf } from '../audit-names.ts';
import { findIdsNamed, findNames, type NamedKind } from '../name-store.ts';
import { findOwnRows } from '../own-rows-store.ts';
import { splitSubject, STEPS_MS, type Dimension, type UsageSums } from './usage-cells.ts';
import {
  columnsOf,
  listUsage,
  type UsageFilter,
  type UsagePosition,
  type UsageRow,
} from './usage-list-store.ts';
import { findFirstLeft, OTHERS } from './usage-store.ts';

/** A query: each party by id or by name. */
export interface UsageQuery {
  by: readonly Dimension[];
  from: string;
  to: string;
  principal?: string | undefined;
  token?: string | undefined;
  group?: string | undefined;
  server?: string | undefined;
  /** Qualified name, in any style. */
  tool?: string | undefined;
}

/** Sums with the names of their ids; dimensions that they are not grouped by are absent. */
export interface UsageItem extends UsageSums {
  day?: string;
  principal?: string;
  principal_name?: string | null;
  token?: string;
  token_name?: string | null;
  group?: string;
  server?: string;
  server_name?: string;
  tool?: string;
  action?: string;
  max_ms: number;
}

export const USAGE_SCOPE = 'tools:read';

export class UsageService {
  readonly #db: D1Database;
  readonly #addUp: (isWhole: boolean) => Promise<void>;

  /** @param addUp adds up the final calls; all of them, or as many as it can within a moment */
  constructor(db: D1Database, addUp: (isWhole: boolean) => Promise<void>) {
    this.#db = db;
    this.#addUp = addUp;
  }

  /**
   * Returns one page, the most calls first.
   * @param isWhole waits until all final calls are added up
   * @returns with `countedUntil`: all stored calls up to that time are included
   * @throws PorticoError `forbidden` for groups, if the caller does not administer
   */
  async list(
    caller: Actor,
    query: UsageQuery,
    limit: number,
    after?: UsagePosition,
    isWhole = false,
  ): Promise<ListPage<UsageItem> & { countedUntil: number }> {
    requireScope(caller, USAGE_SCOPE);
    const { by } = query;
    const all = administersAll(caller);
    if (!all && (by.includes('group') || query.group !== undefined)) {
      throw new PorticoError('forbidden', 'Groups are seen by administrators');
    }
    // If adding up fails now, `countedUntil` shows it.
    if (!after) await this.#addUp(isWhole).catch(() => {});
    const now = Date.now();
    const own = all ? undefined : await findOwnRows(this.#db, caller);
    const filter = await this.#toFilter(query, own);
    const [rows, left] = await Promise.all([
      listUsage(this.#db, by, filter, limit + 1, after),
      findFirstLeft(this.#db),
    ]);
    const key = columnsOf(by);
    const page = toListPage(rows, limit, row => [row.calls, ...key.map(name => row[name] ?? '')]);
    const countedUntil = (left === undefined ? undefined : timeOfId(left)) ?? now;
    return { ...page, items: await this.#toItems(by, page.items), countedUntil };
  }

  async #toFilter(query: UsageQuery, own: UsageFilter['own']): Promise<UsageFilter> {
    const { from, to, principal, token, group, server, tool } = query;
    const named = async (text: string | undefined, kinds: readonly NamedKind[]) =>
      text === undefined ? undefined : [text, ...(await findIdsNamed(this.#db, kinds, text))];
    return {
      own,
      from,
      to,
      group,
      tools: tool === undefined ? undefined : subjectsOf(tool).map(splitSubject),
      principalIds: await named(principal, ['principal']),
      tokenIds: await named(token, ['token', 'grant']),
      // Names of servers that a caller may not see are not looked up.
      servers: own && server !== undefined ? [server] : await named(server, ['server']),
    };
  }

  async #toItems(by: readonly Dimension[], rows: readonly UsageRow[]): Promise<UsageItem[]> {
    const ids = [...new Set(rows.flatMap(row => [row.principal_id, row.token_id]))];
    const found = ids.filter(id => id !== undefined);
    const names = found.length === 0 ? new Map<string, string>() : await findNames(this.#db, found);
    return rows.map(row => toItem(by, row, names));
  }
}

function toItem(
  by: readonly Dimension[],
  row: UsageRow,
  names: ReadonlyMap<string, string>,
): UsageItem {
  const { day, principal_id, token_id, member_of, action, server_id, tool, server, ...sums } = row;
  const serverName = server_id === OTHERS ? OTHERS : server;
  const isOfTool = by.includes('tool');
  return {
    ...(day === undefined ? {} : { day }),
    ...(principal_id === undefined
      ? {}
      : { principal: principal_id, principal_name: nameOf(names, principal_id) }),
    ...(token_id === undefined ? {} : { token: token_id, token_name: nameOf(names, token_id) }),
    ...(member_of === undefined ? {} : { group: member_of }),
    ...(server_id === undefined ? {} : { server: server_id, server_name: serverName }),
    ...(isOfTool && action !== undefined ? { action, tool: toolName(serverName, tool ?? '') } : {}),
    ...sums,
  };
}

/** A text that is not in the form of an id is a name already. */
const nameOf = (names: ReadonlyMap<string, string>, id: string): string | null =>
  names.get(id) ?? (ID_FORM.test(id) ? null : id);

/** Returns the qualified name; a row without a tool of its own has none. */
const toolName = (server: string, tool: string): string =>
  tool === '' || tool === OTHERS ? tool : toQualifiedName(server, tool, 'dot');

/**
 * Returns the upper bound of the duration range in which this share of the calls has ended, in milliseconds; undefined if none is timed.
 */
export function quantileOf(item: UsageSums & { max_ms: number }, part: number): number | undefined {
  if (item.timed <= 0) return undefined;
  let seen = 0;
  for (const step of STEPS_MS) {
    seen += item[`to_${step}`];
    if (seen >= item.timed * part) return Math.min(step, item.max_ms);
  }
  return item.max_ms;
}
