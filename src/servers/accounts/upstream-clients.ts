/**
 * Our clients at the servers' authorization servers, in the order of MCP 2026-07-28: the one that an administrator configured, else our
 * client metadata document, else one that the issuer registers for us. Each is for its issuer alone and never shown to another.
 */
import type {
  Authorizer,
  CodeFlowPort,
  UpstreamClient,
} from '../../credentials/oauth/code-flow-schema.ts';
import { methodOf, takesDocument } from '../../credentials/oauth/client-document.ts';
import type { AuthorizationCodeAuth } from '../../credentials/credential-schema.ts';
import { OpenedCredentials } from '../../credentials/opened-credentials.ts';
import { openEnvelope, sealEnvelope, type Place } from '../../shared/crypto/envelope.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { Server } from '../registry/server-schema.ts';
import type { Grant } from './grant-schema.ts';
import { deleteClient, findClient, keepClient } from './upstream-client-store.ts';

export interface UpstreamClientPorts {
  db: D1Database;
  keys: KeyRing;
  flow: Pick<CodeFlowPort, 'register'>;
}

/** The gateway's own addresses. */
export interface OwnAddresses {
  redirectUri: string;
  /** URL of the gateway. */
  clientUri: string;
  /** URL of our client metadata document; undefined if an issuer could not read it. */
  documentUrl: string | undefined;
}

export class UpstreamClients {
  readonly #ports: UpstreamClientPorts;
  readonly #credentials: OpenedCredentials;

  constructor(ports: UpstreamClientPorts) {
    this.#ports = ports;
    this.#credentials = new OpenedCredentials(ports.keys);
  }

  /**
   * Chooses the client for connecting an account.
   * @param server as the registry has it
   * @throws PorticoError `credential_unavailable`
   */
  async choose(
    server: Server,
    authorizer: Authorizer,
    { redirectUri, clientUri, documentUrl }: OwnAddresses,
  ): Promise<UpstreamClient> {
    const given = await this.#given(server);
    const { issuer, metadata } = authorizer;
    if (given) {
      if (given.issuer !== issuer) {
        throw unavailable(
          'The server names an authorization server other than the one of its client',
        );
      }
      const method = methodOf(metadata) ?? 'basic';
      return this.#fill(server, given, metadata.token_endpoint ?? '', method);
    }
    if (documentUrl !== undefined && takesDocument(metadata)) {
      return { clientId: documentUrl, clientSecret: undefined, method: 'none', source: 'document' };
    }
    const known = await this.#registered(issuer, { redirectUri });
    if (known) return known;
    const made = await this.#ports.flow.register(authorizer, { redirectUri, clientUri });
    await this.#keep(issuer, redirectUri, made);
    // If another request registered at the same moment, all use the client that was stored.
    return (await this.#registered(issuer, { redirectUri })) ?? made;
  }

  /** Finds the client that an account was connected with; undefined if it no longer exists. */
  async of(
    server: Server,
    { issuer, client_source, client_id, client_method, token_endpoint }: Grant,
  ): Promise<UpstreamClient | undefined> {
    if (client_source === 'document') {
      return { clientId: client_id, clientSecret: undefined, method: 'none', source: 'document' };
    }
    if (client_source === 'registered') {
      return this.#registered(issuer, { clientId: client_id });
    }
    const given = await this.#given(server);
    if (given?.issuer !== issuer) return undefined;
    const client = await this.#fill(server, given, token_endpoint, client_method);
    return client.clientId === client_id ? client : undefined;
  }

  /** Forgets a registered client that its issuer no longer knows: the next sign-in registers another. */
  forget({ issuer, client_id }: Pick<Grant, 'issuer' | 'client_id'>): Promise<void> {
    return deleteClient(this.#ports.db, issuer, client_id);
  }

  async #given(server: Server): Promise<AuthorizationCodeAuth | undefined> {
    if (server.credential.view.auth?.type !== 'authorization_code') return undefined;
    return (await this.#credentials.of(server)).client;
  }

  /** @param method how the client authenticates, if it has a secret */
  async #fill(
    server: Server,
    { client_id, client_secret }: AuthorizationCodeAuth,
    tokenEndpoint: string,
    method: UpstreamClient['method'],
  ): Promise<UpstreamClient> {
    const texts = [client_id, ...(client_secret === undefined ? [] : [client_secret])];
    const { origin } = new URL(tokenEndpoint);
    const [clientId = '', clientSecret] = await this.#credentials.fillFor(server, texts, origin);
    return {
      clientId,
      clientSecret,
      method: clientSecret === undefined ? 'none' : method,
      source: 'given',
    };
  }

  async #registered(
    issuer: string,
    by: { redirectUri: string } | { clientId: string },
  ): Promise<UpstreamClient | undefined> {
    const { db, keys } = this.#ports;
    const found = await findClient(db, issuer, by);
    if (!found) return undefined;
    const { id, client_id: clientId, secret_sealed: sealed, method } = found;
    const clientSecret =
      sealed === null ? undefined : await openEnvelope(keys, sealed, secretPlace(id, issuer));
    if (sealed !== null && clientSecret === undefined) {
      throw unavailable('The client at the authorization server cannot be opened');
    }
    return { clientId, clientSecret, method, source: 'registered' };
  }

  async #keep(
    issuer: string,
    redirectUri: string,
    { clientId: client_id, clientSecret, method }: UpstreamClient,
  ): Promise<void> {
    const { db, keys } = this.#ports;
    const id = crypto.randomUUID();
    const secret_sealed =
      clientSecret === undefined
        ? null
        : await sealEnvelope(keys, clientSecret, secretPlace(id, issuer));
    await keepClient(db, issuer, redirectUri, { id, client_id, secret_sealed, method });
  }
}

const secretPlace = (id: string, issuer: string): Place => ({
  kind: 'upstream_client',
  id,
  field: 'secret',
  origin: issuer,
});

const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
