/** Maps names in a file to the gateway's servers, connectors and principals, and ids to names. Pure. */

export interface Named {
  id: string;
  name: string;
}

/** A principal at the gateway; `key` is its key in the file, where it belongs to the file's owner. */
export interface NamedPrincipal extends Named {
  key?: string;
}

export interface Names {
  /** The record's spelling of a name in any case; the text itself where no record has it. */
  server(text: string): string;
  connector(text: string): string;
  /** Name of the connector with this id; the id where there is none. */
  connectorOf(id: string): string;
  /** The file's name for the principal with this id. */
  principalOf(id: string): string;
}

/** @param file names in the file, whose spelling wins */
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

/** A qualified pattern with its server's name in the record's spelling. */
export function spellPattern(pattern: string, { server }: Pick<Names, 'server'>): string {
  const at = pattern.indexOf('.');
  return at === -1 ? server(pattern) : server(pattern.slice(0, at)) + pattern.slice(at);
}
