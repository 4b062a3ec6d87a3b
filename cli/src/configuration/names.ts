/** Names in a file and ids at the gateway: of servers, connectors and principals. Pure. */

export interface Named {
  id: string;
  name: string;
}

/** A principal of the gateway; `key` is what the file calls it, where it belongs to the file's owner. */
export interface NamedPrincipal extends Named {
  key?: string;
}

export interface Names {
  /** The name as it is written at its record, whatever its case here; the text where it is no name. */
  server(text: string): string;
  connector(text: string): string;
  /** Name of the connector with an id; the id where there is none. */
  connectorOf(id: string): string;
  /** What a file calls the principal with an id. */
  principalOf(id: string): string;
}

/** @param file names that the file has, which come first */
export function createNames(
  file: { servers: readonly string[]; connectors: readonly string[] },
  gateway: {
    servers: readonly Named[];
    connectors: readonly Named[];
    principals: readonly NamedPrincipal[];
  },
): Names {
  const nameOf = ({ name }: Named) => name;
  const servers = spellings([...gateway.servers.map(nameOf), ...file.servers]);
  const connectors = spellings([...gateway.connectors.map(nameOf), ...file.connectors]);
  const connectorNames = new Map(gateway.connectors.map(({ id, name }) => [id, name]));
  const keys = new Set(gateway.principals.flatMap(({ key }) => key ?? []));
  const counts = Map.groupBy(gateway.principals, nameOf);
  const principals = new Map(
    gateway.principals.map(({ id, name, key }) => {
      const isClear = counts.get(name)?.length === 1 && !keys.has(name);
      return [id, key ?? (isClear ? name : id)];
    }),
  );
  return {
    server: text => servers.get(text.toLowerCase()) ?? text,
    connector: text => connectors.get(text.toLowerCase()) ?? text,
    connectorOf: id => connectorNames.get(id) ?? id,
    principalOf: id => principals.get(id) ?? id,
  };
}

const spellings = (names: readonly string[]) =>
  new Map(names.map(name => [name.toLowerCase(), name]));

/** A qualified pattern with its server's name as it is written at its record. */
export function spellPattern(pattern: string, { server }: Pick<Names, 'server'>): string {
  const at = pattern.indexOf('.');
  return at === -1 ? server(pattern) : server(pattern.slice(0, at)) + pattern.slice(at);
}
