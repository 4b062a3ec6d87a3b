/** An edit of a server: the record it makes, and what of it has to be connected anew. */
import { fieldProblem } from '../errors/field-problems.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { applyCredential, dropped } from './credential.ts';
import type { Credential } from './credential-schema.ts';
import type { Server, UpdateServer } from './server-schema.ts';

/** The edited record, still with the revision it was made of. */
export interface Edited {
  server: Server;
  /** It is reached otherwise now: another address, transport or credential. */
  isMoved: boolean;
}

/** Apply a patch. A new origin drops the credential given for the old one, unless a new one comes along. */
export async function applyUpdate(
  keys: KeyRing,
  before: Server,
  patch: UpdateServer,
): Promise<Edited> {
  const { url = before.url, ...given } = patch.connection_config ?? {};
  const kept = keptCredential(before, url);
  const credential = await applyCredential(keys, { id: before.id, url }, kept, given);
  const transportType = patch.transport_type ?? before.transportType;
  const server: Server = {
    ...before,
    name: patch.name ?? before.name,
    description: patch.description ?? before.description,
    transportType,
    url,
    credential,
    healthCheckUrl:
      patch.health_check_url === undefined ? before.healthCheckUrl : patch.health_check_url,
    healthSettings:
      patch.health_check === undefined ? before.healthSettings : (patch.health_check ?? {}),
    autoConnect: patch.auto_connect ?? before.autoConnect,
    toolApproval: patch.tool_approval === undefined ? before.toolApproval : patch.tool_approval,
    updatedAt: Date.now(),
  };
  const isMoved =
    url !== before.url ||
    transportType !== before.transportType ||
    credential !== before.credential;
  return { server, isMoved };
}

/** A program stays where it is. @throws PorticoError `validation_failed` */
export function refuseMove({ transportType }: Server, patch: UpdateServer): void {
  if (transportType !== 'STDIO') return;
  if (patch.transport_type === undefined && patch.connection_config === undefined) return;
  throw fieldProblem(
    patch.transport_type === undefined ? 'connection_config' : 'transport_type',
    'a program is configured on the machine of its connector; register the other server under another name',
  );
}

/** What stays of a credential when the address changes. */
export function keptCredential({ url: before, credential }: Server, url: string): Credential {
  return new URL(url).origin === new URL(before).origin ? credential : dropped(credential);
}

/** The fields a patch names, for the audit: never what they are set to. */
export function changedFields({ connection_config: config, ...rest }: UpdateServer): string[] {
  const nested = Object.keys(config ?? {}).map(key => `connection_config.${key}`);
  return [...Object.keys(rest), ...nested].toSorted();
}
