/** The form values of a server, and the request bodies made from them. Pure. */
import type { CreateServer, Server, UpdateServer } from '../../generated/types.gen.ts';

/** How the gateway authenticates at the server; `keep`: unchanged. */
export type CredentialChoice = 'keep' | 'none' | 'bearer' | 'header';

export interface FormValues {
  name: string;
  url: string;
  description: string;
  transport: 'HTTP' | 'SSE';
  credential: CredentialChoice;
  /** Name of the header. */
  header: string;
  /** The token or the header's value; never shown again. */
  secret: string;
  accounts: Server['accounts'];
  /** Empty: the deployment's default. */
  approval: '' | NonNullable<Server['tool_approval']>;
}

export const NEW: FormValues = {
  name: '',
  url: '',
  description: '',
  transport: 'HTTP',
  credential: 'none',
  header: 'Authorization',
  secret: '',
  accounts: 'shared',
  approval: '',
};

export function valuesOf(server: Server): FormValues {
  return {
    ...NEW,
    name: server.name,
    url: server.connection_config.url,
    description: server.description,
    transport: server.transport_type === 'SSE' ? 'SSE' : 'HTTP',
    credential: 'keep',
    accounts: server.accounts,
    approval: server.tool_approval ?? '',
  };
}

export function toCreate(values: FormValues): CreateServer {
  const { name, url, description, transport, accounts, approval } = values;
  return {
    name: name.trim(),
    description,
    transport_type: transport,
    connection_config: { url: url.trim(), ...given(values) },
    accounts,
    ...(approval === '' ? {} : { tool_approval: approval }),
  };
}

function given({ credential, header, secret }: FormValues) {
  if (credential === 'bearer') return { auth: { type: 'bearer' as const, token: secret.trim() } };
  if (credential === 'header') return { headers: { [header.trim()]: secret.trim() } };
  return {};
}

/** Only the changed fields. */
export function toUpdate(before: FormValues, values: FormValues): UpdateServer {
  const isOther = (key: keyof FormValues) => before[key] !== values[key];
  const config = {
    ...(isOther('url') ? { url: values.url.trim() } : {}),
    ...(values.credential === 'keep' ? {} : { headers: null, auth: null, ...given(values) }),
  };
  return {
    ...(isOther('name') ? { name: values.name.trim() } : {}),
    ...(isOther('description') ? { description: values.description } : {}),
    ...(isOther('transport') ? { transport_type: values.transport } : {}),
    ...(isOther('accounts') ? { accounts: values.accounts } : {}),
    ...(isOther('approval') ? { tool_approval: values.approval || null } : {}),
    ...(Object.keys(config).length > 0 ? { connection_config: config } : {}),
  };
}
