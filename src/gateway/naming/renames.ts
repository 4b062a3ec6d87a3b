/** Other names and descriptions that an endpoint gives to single tools. Pure. */
import type { Override } from '../../access/policy/toolset.ts';
import { matchesServer, type NamedServer } from '../../shared/util/name-pattern.ts';
import type { CatalogItem } from '../../servers/catalog/catalog.ts';

/** A tool that is shown otherwise. */
export interface Renamed {
  name?: string | undefined;
  description?: string | undefined;
}

/** Where a name that an endpoint gave leads. */
export interface Origin {
  serverId: string;
  tool: string;
}

export class Renames {
  /** Equal for equal renames. */
  readonly key: string;
  readonly #byOrigin = new Map<string, Renamed>();
  readonly #byName = new Map<string, Origin>();

  /** @param servers the servers there are; what is said of others waits for them */
  constructor(overrides: readonly Override[], servers: readonly NamedServer[]) {
    for (const { server: pattern, tool, name, description } of overrides) {
      const server = servers.find(candidate => matchesServer(pattern, candidate));
      if (!server) continue;
      this.#byOrigin.set(originKey(server.id, tool), { name, description });
      if (name !== undefined) this.#byName.set(name, { serverId: server.id, tool });
    }
    this.key = JSON.stringify([...this.#byOrigin]);
  }

  /** What a tool is shown as, where that is otherwise. */
  of(serverId: string, tool: string): Renamed | undefined {
    return this.#byOrigin.get(originKey(serverId, tool));
  }

  /** The tool behind a name that was given here. */
  origin(name: string): Origin | undefined {
    return this.#byName.get(name);
  }
}

const originKey = (serverId: string, tool: string) => `${serverId} ${tool}`;

/** An item with the description it is shown with. */
export function described(item: CatalogItem, { description }: Renamed): CatalogItem {
  if (description === undefined) return item;
  return { ...item, raw: new Map(item.raw).set('description', JSON.stringify(description)) };
}
