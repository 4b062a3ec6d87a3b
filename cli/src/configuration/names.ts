/** Maps names in a file to the gateway's servers, connectors and principals, and ids to names. Pure. */
import type { Configuration } from '../../../src/api/configuration-file.ts';

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
  /** The one name for a principal, whether its id, its key in the file or its name is given; the text itself where there is none. */
  principal(text: string): string;
}

/** @param file the spelling of its names wins */
export function createNames(
  file: Pick<Configuration, 'servers' | 'connectors' | 'principals'>,
  gateway: {
    servers: readonly Named[];
    connectors: readonly Named[];
    principals: readonly NamedPrincipal[];
  },
): Names {
  const nameOf = ({ name }: Named) => name;
  const servers = spellings([...gateway.servers.map(nameOf), ...Object.keys(file.servers ?? {})]);
  const connectors = spellings([
    ...gateway.connectors.map(nameOf),
    ...Object.keys(file.connectors ?? {}),
  ]);
  const connectorNames = new Map(gateway.connectors.map(({ id, name }) => [id, name]));
  const keys = new Set(gateway.principals.flatMap(({ key }) => key ?? []));
  const named = Map.groupBy(gateway.principals, nameOf);
  const inFile = new Map(Object.entries(file.principals ?? {}));
  const principals = new Map(
    gateway.principals.map(({ id, name, key }) => {
      // A key of the file may be the name of another principal.
      const isKey = keys.has(name) || (inFile.get(name)?.name ?? name) !== name;
      return [id, key ?? (named.get(name)?.length === 1 && !isKey ? name : id)];
    }),
  );
  const idOf = (text: string): string => {
    const [only, other] = named.get(text) ?? [];
    return only && !other ? only.id : text;
  };
  return {
    server: text => servers.get(text.toLowerCase()) ?? text,
    connector: text => connectors.get(text.toLowerCase()) ?? text,
    connectorOf: id => connectorNames.get(id) ?? id,
    principal: text =>
      principals.get(text) ?? (inFile.has(text) ? text : principals.get(idOf(text))) ?? text,
  };
}

const spellings = (names: readonly string[]) =>
  new Map(names.map(name => [name.toLowerCase(), name]));

/** A qualified pattern with its server's name in the record's spelling. */
export function spellPattern(pattern: string, { server }: Pick<Names, 'server'>): string {
  const at = pattern.indexOf('.');
  return at === -1 ? server(pattern) : server(pattern.slice(0, at)) + pattern.slice(at);
}
