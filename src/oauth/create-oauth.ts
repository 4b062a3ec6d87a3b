/** Builds the authorization server: clients, grants and tokens. */
import type { AdminAudit } from '../audit/admin-audit.ts';
import { toClientDocument } from '../credentials/oauth/client-document.ts';
import { CALLBACK_PATH, CLIENT_DOCUMENT_PATH } from '../servers/accounts/connecting.ts';
import type { HostSettings } from '../http/host-settings.ts';
import type { AssertedIdentities } from '../sign-in/identities/asserted-identities.ts';
import type { ExpectEvents } from '../webhooks/expect-events.ts';
import { AddressBuckets } from './address-buckets.ts';
import { IssuerKeys } from './assertions/issuer-keys.ts';
import { Authorizations } from './authorizations.ts';
import { createClientRecords } from './clients/client-service.ts';
import { createOAuthClients, type OAuthClientsDeps } from './clients/create-clients.ts';
import { DeviceAuthorizations } from './devices/device-endpoint.ts';
import { DeviceQuestions } from './devices/device-questions.ts';
import { createGrants } from './grants/grant-service.ts';
import type { OAuthPorts } from './endpoints.ts';
import { Refusals } from './refusals.ts';

export interface OAuthDeps extends OAuthClientsDeps {
  adminAudit: AdminAudit;
  expectEvents: ExpectEvents;
  asserted: AssertedIdentities;
  config: Pick<HostSettings, 'mode' | 'allowsLoopback' | 'clientDocumentUrl'>;
  onAccessChanged(): Promise<void>;
}

export function createOAuth(deps: OAuthDeps) {
  const { db, keys, adminAudit, onAccessChanged, now, asserted, config } = deps;
  // Anybody can name the addresses of a client. Where others reach the gateway, only administrators may name this machine.
  const allowsLoopback = config.allowsLoopback && config.mode === 'local';
  const clients = createOAuthClients({ db, keys, config: { allowsLoopback }, now });
  const { register } = clients;
  const refusals = new Refusals(adminAudit, now);
  const issuerKeys = new IssuerKeys(config.allowsLoopback, now);
  const ports = { db, keys, adminAudit, onAccessChanged, clients, refusals, now };
  const questionPorts = { db, keys, adminAudit, clients, expectEvents: deps.expectEvents, now };
  const assertions = { asserted, issuerKeys };
  const devices = new DeviceAuthorizations(ports);
  const toDocument = (origin: string) => {
    const clientId = config.clientDocumentUrl ?? origin + CLIENT_DOCUMENT_PATH;
    const redirectUri = origin + CALLBACK_PATH;
    return toClientDocument({ clientId, origin: new URL(clientId).origin, redirectUri });
  };
  const oauth: OAuthPorts = {
    ...ports,
    assertionLimit: new AddressBuckets(),
    ...assertions,
    register,
    devices,
    toClientDocument: toDocument,
  };
  return {
    oauth,
    authorizations: new Authorizations(questionPorts),
    deviceQuestions: new DeviceQuestions(questionPorts),
    grants: createGrants({ db, adminAudit, onAccessChanged }),
    clientRecords: createClientRecords({ db, adminAudit, onAccessChanged, keys, now }),
  };
}
