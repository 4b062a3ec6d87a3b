/** Names and descriptions that an endpoint gives to single tools in place of their own. Pure. */
import type { Override } from '../../access/policy/toolset.ts';
import { matchesServer, type NamedServer } from '../../shared/util/name-pattern.ts';
import type { CatalogItem } from '../../servers/catalog/catalog.ts';

/** How a renamed tool is shown. */
export interface Renamed {
  name?: string | undefined;
  description?: string | undefined;
}

/** The tool behind a name that an endpoint gave. */
export interface Origin {
  serverId: string;
  tool: string;
}

export class Renames {
  /** Equal for equal renames. */
  readonly key: string;
  readonly #byOrigin = new Map<string, Renamed>();
  readonly #byName = new Map<string, Origin>();

  /** @param servers the existing servers; overrides for others take effect once those exist */
  constructor(overrides: readonly Override[], servers: readonly NamedServer[]) {
    for (const { server: pattern, tool, name, description } of overrides) {
      const server = servers.find(candidate => matchesServer(pattern, candidate));
      if (!server) continue;
      this.#byOrigin.set(originKey(server.id, tool), { name, description });
      if (name !== undefined) this.#byName.set(name, { serverId: server.id, tool });
    }
    this.key = JSON.stringify([...this.#byOrigin]);
  }

  /** Returns how a tool is shown; undefined if it is shown unchanged. */
  of(serverId: string, tool: string): Renamed | undefined {
    return this.#byOrigin.get(originKey(serverId, tool));
  }

  /** Returns the tool behind a name that the endpoint gave. */
  origin(name: string): Origin | undefined {
    return this.#byName.get(name);
  }
}

const originKey = (serverId: string, tool: string) => `${serverId} ${tool}`;

/** Returns an item with the description that the endpoint gives it. */
export function described(item: CatalogItem, { description }: Renamed): CatalogItem {
  if (description === undefined) return item;
  return { ...item, raw: new Map(item.raw).set('description', JSON.stringify(description)) };
}
