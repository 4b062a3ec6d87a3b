/**
 * The registry as a file for the import. Credentials appear as references to stored secrets; values that were given directly are left out
 * and reported. Pure.
 */
import type { CredentialView } from '../../credentials/credential-schema.ts';
import type { CreateServer, Server } from '../registry/server-schema.ts';

export interface LeftOut {
  name: string;
  /** Fields of the record that are not in the file. */
  fields: string[];
}

export interface RegistryExport {
  servers: CreateServer[];
  leftOut: LeftOut[];
  /** Names of the secrets that the records refer to. */
  secrets: string[];
}

/** @param servers in the order of the file */
export function toRegistryExport(servers: readonly Server[]): RegistryExport {
  const exported = servers.flatMap(toRecord);
  const names = servers.flatMap(({ credential: { view } }) => [
    ...view.secrets.headers,
    ...view.secrets.auth,
  ]);
  return {
    servers: exported.map(({ record }) => record),
    leftOut: exported.flatMap(({ record: { name }, fields }) =>
      fields.length > 0 ? [{ name, fields }] : [],
    ),
    secrets: [...new Set(names)].toSorted(),
  };
}

/** Leaves programs out: a program belongs to its machine, whose connector registers it. */
function toRecord(server: Server): { record: CreateServer; fields: string[] }[] {
  const { transportType } = server;
  if (transportType === 'STDIO') return [];
  const { headers, auth } = server.credential.view;
  const shown = Object.entries(headers).filter((entry): entry is [string, string] => !!entry[1]);
  const hidden = Object.keys(headers).filter(name => headers[name] === null);
  const shownAuth = toAuth(auth);
  const record: CreateServer = {
    name: server.name,
    description: server.description,
    transport_type: transportType,
    connection_config: {
      url: server.url,
      ...(shown.length > 0 ? { headers: Object.fromEntries(shown) } : {}),
      ...(shownAuth ? { auth: shownAuth } : {}),
    },
    auto_connect: server.autoConnect,
    accounts: server.accounts,
    ...(server.toolApproval === null ? {} : { tool_approval: server.toolApproval }),
    ...(server.healthCheckUrl === null ? {} : { health_check_url: server.healthCheckUrl }),
    ...(Object.keys(server.healthSettings).length > 0
      ? { health_check: server.healthSettings }
      : {}),
  };
  const fields = [
    ...hidden.map(name => `connection_config.headers.${name}`),
    ...(auth && !shownAuth ? ['connection_config.auth'] : []),
  ];
  return [{ record, fields }];
}

/** The authentication, if all of it can be shown. */
function toAuth(auth: CredentialView['auth']): CreateServer['connection_config']['auth'] {
  if (auth === null) return undefined;
  if (auth.type === 'bearer') {
    return auth.token === null ? undefined : { ...auth, token: auth.token };
  }
  if (auth.type === 'client_credentials') {
    const { client_id, client_secret, ...rest } = auth;
    if (client_id === null || client_secret === null) return undefined;
    return { ...rest, client_id, client_secret };
  }
  const { client_id, client_secret, ...rest } = auth;
  if (client_id === null || client_secret === null) return undefined;
  return { ...rest, client_id, client_secret };
}
