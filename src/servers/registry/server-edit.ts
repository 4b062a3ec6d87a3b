/** Editing a server: builds the edited record and decides whether the server has to connect again. */
import { decideAddress } from '../../http/address-policy.ts';
import { fieldProblem, refuseFields } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { namesIn } from '../../credentials/references.ts';
import { applyCredential, dropped } from '../../credentials/credential.ts';
import type { Credential } from '../../credentials/credential-schema.ts';
import type { Server, UpdateServer } from './server-schema.ts';

/** The edited record, still with the revision that it was read at. */
export interface Edited {
  server: Server;
  /** Its address, transport or credential changed. */
  isMoved: boolean;
}

/** Applies a patch. A new origin drops the credential that was given for the old one, unless the patch brings a new one. */
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
    accounts: patch.accounts ?? before.accounts,
    updatedAt: Date.now(),
  };
  const isMoved =
    url !== before.url ||
    transportType !== before.transportType ||
    credential !== before.credential;
  return { server: isMoved ? { ...server, lastError: null } : server, isMoved };
}

/**
 * Refuses edits of the connection and of the account mode of a program: its connector's machine decides both. @throws PorticoError
 * `validation_failed`
 */
export function refuseMove({ transportType }: Server, patch: UpdateServer): void {
  if (transportType !== 'STDIO') return;
  if (patch.accounts !== undefined && patch.accounts !== 'shared') {
    throw fieldProblem(
      'accounts',
      'must be shared: a program gets its credentials from the machine of its connector',
    );
  }
  if (patch.transport_type === undefined && patch.connection_config === undefined) return;
  throw fieldProblem(
    patch.transport_type === undefined ? 'connection_config' : 'transport_type',
    'a program is configured on the machine of its connector; register the other server under another name',
  );
}

/**
 * Refuses what a token with limits may not change, even for a server within them: its name, by which the rules and tokens of others find
 * it; its addresses; what its access tokens are for; and which of the deployment's secrets are sent there.
 * @throws PorticoError `forbidden`
 */
export function refuseBeyondLimits({ credential: { view } }: Server, patch: UpdateServer): void {
  const { url, headers, auth } = patch.connection_config ?? {};
  const isElsewhere = [patch.name, patch.health_check_url, patch.transport_type, url].some(
    given => given !== undefined,
  );
  const known = new Set([...view.secrets.headers, ...view.secrets.auth]);
  const texts = [...Object.values(headers ?? {}), ...Object.values(auth ?? {})];
  const isForeign = (text = '') => namesIn(text)?.every(name => known.has(name)) !== true;
  const isGranted = auth !== undefined && auth !== null && auth.type !== 'bearer';
  if (!isElsewhere && !isGranted && !texts.some(isForeign)) return;
  throw new PorticoError('forbidden', 'This needs a token without limits');
}

/** @throws PorticoError `validation_failed` naming every address that is not allowed */
export function refuseAddresses(
  { allowsLoopback }: { allowsLoopback: boolean },
  url: string | undefined,
  healthCheckUrl: string | undefined,
): void {
  const given = { 'connection_config.url': url, health_check_url: healthCheckUrl };
  const fields = Object.entries(given).flatMap(([field, address]) => {
    const decision = address === undefined || decideAddress(address, allowsLoopback);
    return decision === true || decision.allowed ? [] : [{ field, message: decision.reason }];
  });
  refuseFields(fields);
}

/** The part of a credential that survives a change of address. */
export function keptCredential({ url: before, credential }: Server, url: string): Credential {
  return new URL(url).origin === new URL(before).origin ? credential : dropped(credential);
}

/** Names of the fields that a patch sets, for the audit; never their values. */
export function changedFields({ connection_config: config, ...rest }: UpdateServer): string[] {
  const nested = Object.keys(config ?? {}).map(key => `connection_config.${key}`);
  return [...Object.keys(rest), ...nested].toSorted();
}
