/**
 * Connects an account by a sign-in at the server's authorization server, in two steps: the person leaves with a `state` and comes back with
 * a code. Source: MCP 2026-07-28, Authorization and Security Best Practices.
 *
 * Invariants: only a signed-in person gets a `state`, for their own principal, in one browser. It is valid once and for ten minutes. The
 * response is accepted only for that principal, server and issuer.
 */
import type { AdminAudit } from '../../audit/admin-audit.ts';
import { GrantRefused, type CodeFlowPort } from '../../credentials/oauth/code-flow-schema.ts';
import { randomBytes, toBase64Url } from '../../shared/crypto/base64url.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { requireScope, type Actor } from '../../shared/identity/principal.ts';
import type { Server } from '../registry/server-schema.ts';
import { findAccountId, whenConnectable, whenWritten, writeAccount } from './account-store.ts';
import { clientColumns, goesBeyond, unionOf, type Grant } from './grant-schema.ts';
import { deleteOfOtherIssuers, findGrant, writeGrant } from './grant-store.ts';
import { keepPending, takePending, type Pending } from './pending-connection.ts';
import { sealIssued } from './sealed-tokens.ts';
import type { UpstreamClients } from './upstream-clients.ts';

export interface ConnectingPorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  flow: Pick<CodeFlowPort, 'find' | 'toAuthorizationUrl' | 'exchange'>;
  clients: Pick<UpstreamClients, 'choose' | 'forget'>;
  /** URL of our client metadata document, if it is not on the gateway's own origin. */
  clientDocumentUrl: string | undefined;
  /** Called after a principal connected or replaced its account at this server. */
  onConnected(serverId: string, principalId: string): Promise<void>;
}

/** Redirect path for issuers. */
export const CALLBACK_PATH = '/oauth/callback';
/** Path of our client metadata document. */
export const CLIENT_DOCUMENT_PATH = '/oauth/client-metadata.json';

/** A signed-in person in one browser. */
export interface AtBrowser {
  actor: Actor;
  /** Id of this browser's sign-in. */
  signInId: string;
}

/**
 * Sign-ins that may request the same scope; if the server still wants it afterwards, another is refused. With the first sign-in that makes
 * three.
 */
const MAX_SAME = 2;
/** Scope that a caller needs to use accounts. */
const SCOPE = 'tools:call';
const BEGIN_ANEW = 'This sign-in was not started by you in this browser, or took too long';

export class Connecting {
  readonly #ports: ConnectingPorts;

  constructor(ports: ConnectingPorts) {
    this.#ports = ports;
  }

  /**
   * Returns the URL at which a person signs in for a server.
   * @param server as the registry has it; the principal may use it
   * @param origin of the gateway, as the person's browser requests it
   * @throws PorticoError `credential_unavailable`, `forbidden`
   */
  async begin({ actor, signInId }: AtBrowser, server: Server, origin: string): Promise<URL> {
    requireScope(actor, SCOPE);
    const { principalId } = actor;
    const { db, keys, flow, clients } = this.#ports;
    const accountId = await findAccountId(db, principalId, server.id);
    const former = accountId === undefined ? undefined : await findGrant(db, accountId);
    const asked = countAsked(former);
    const { auth } = server.credential.view;
    const isGiven = auth?.type === 'authorization_code';
    const authorizer = await flow.find(server.url, isGiven ? { issuer: auth.issuer } : {});
    const redirectUri = origin + CALLBACK_PATH;
    const documentUrl = this.#documentUrl(origin);
    const client = await clients.choose(server, authorizer, {
      redirectUri,
      clientUri: origin,
      documentUrl,
    });
    const request = {
      redirectUri,
      scope: scopeToRequest(server, authorizer, former),
      state: toBase64Url(randomBytes(32)),
      verifier: toBase64Url(randomBytes(32)),
    };
    const location = await flow.toAuthorizationUrl(authorizer, client, request);
    const pending = { signInId, serverUrl: server.url, authorizer, client, request, asked };
    await keepPending(db, keys, { principalId, serverId: server.id }, pending);
    return location;
  }

  /** Issuers read the document over TLS only. */
  #documentUrl(origin: string): string | undefined {
    const { clientDocumentUrl } = this.#ports;
    if (clientDocumentUrl !== undefined) return clientDocumentUrl;
    return origin.startsWith('https://') ? origin + CLIENT_DOCUMENT_PATH : undefined;
  }

  /**
   * Connects the account that a person comes back with.
   * @param url that their browser came back to
   * @param visible the servers that they may use, as the registry has them
   * @returns the server
   * @throws PorticoError `forbidden`, `not_found`, `credential_unavailable`, `busy`
   */
  async finish(
    { actor, signInId }: AtBrowser,
    url: URL,
    visible: readonly Server[],
  ): Promise<Server> {
    const { db, keys, adminAudit } = this.#ports;
    const { principalId } = actor;
    const state = url.searchParams.get('state') ?? '';
    const taken = await takePending(db, keys, principalId, state);
    const act = { action: 'account.connect', subject: taken?.serverId ?? principalId };
    return adminAudit.perform(actor, SCOPE, act, async commit => {
      if (taken?.pending.signInId !== signInId) throw new PorticoError('forbidden', BEGIN_ANEW);
      const { serverId, pending } = taken;
      const server = visible.find(({ id }) => id === serverId);
      if (!server || server.accounts === 'shared' || server.url !== pending.serverUrl) {
        throw new PorticoError('not_found', 'No such server');
      }
      const issued = await this.#exchange(pending, url);
      const known = await findAccountId(db, principalId, serverId);
      const isKnown = known !== undefined;
      const id = known ?? crypto.randomUUID();
      const former = isKnown ? await findGrant(db, id) : undefined;
      const { authorizer, client, request } = pending;
      const { issuer, resource, metadata } = authorizer;
      const of = {
        account_id: id,
        principal_id: principalId,
        server_id: serverId,
        issuer,
        resource,
      };
      const sealed = await sealIssued(keys, server, of, (former?.serial ?? 0) + 1, issued);
      const { token } = sealed;
      const written = {
        id,
        principalId,
        serverId,
        url: server.url,
        sealed: token.sealed,
        now: token.issuedAt,
      };
      const when = whenConnectable(written, isKnown);
      const scope = sealed.scope ?? request.scope ?? null;
      const grant = {
        account_id: id,
        issuer,
        resource,
        token_endpoint: metadata.token_endpoint ?? '',
        revocation_endpoint: metadata.revocation_endpoint ?? null,
        ...clientColumns(client),
        scope,
        asked_scope: request.scope ?? null,
        asked: pending.asked,
        refresh_sealed: sealed.refreshSealed,
        serial: token.serial,
        issued_at: token.issuedAt,
        expires_at: token.expiresAt,
      };
      const isDone = await commit({
        when,
        statements: [
          deleteOfOtherIssuers(db, serverId, id, [issuer, ...authorizer.issuers], when),
          writeAccount(db, written, isKnown, when),
          writeGrant(db, grant, whenWritten(written)),
        ],
        detail: { server: serverId, account: id, issuer, ...(scope === null ? {} : { scope }) },
      });
      if (!isDone) throw new PorticoError('busy', 'It was changed meanwhile; try again');
      await this.#ports.onConnected(serverId, principalId);
      return server;
    });
  }

  /** Exchanges the code. A client that the issuer does not know is forgotten. */
  async #exchange({ authorizer, client, request }: Pending, url: URL) {
    const { flow, clients } = this.#ports;
    try {
      return await flow.exchange(authorizer, client, request, url);
    } catch (thrown) {
      if (thrown instanceof GrantRefused && thrown.reason === 'invalid_client') {
        await clients.forget({ issuer: authorizer.issuer, client_id: client.clientId });
      }
      throw thrown;
    }
  }
}

/**
 * Counts the sign-ins that request the same scope, including the one that begins. @throws PorticoError `forbidden` if another would be
 * pointless
 */
function countAsked(former: Grant | undefined): number {
  if (!former?.wanted_scope || goesBeyond(former.wanted_scope, former.asked_scope)) return 1;
  if (former.asked < MAX_SAME) return former.asked + 1;
  throw new PorticoError(
    'forbidden',
    `The server still wants “${former.wanted_scope}”, which you were asked for already; tell whoever runs it`,
  );
}

/** The scope to request: what an administrator set or else the server requests, plus everything already granted and wanted. */
function scopeToRequest(
  server: Server,
  { scope, issuer }: { scope: string | undefined; issuer: string },
  former: Grant | undefined,
): string | undefined {
  const { auth } = server.credential.view;
  const set = auth?.type === 'authorization_code' ? auth.scope : undefined;
  const before = former?.issuer === issuer ? former : undefined;
  return unionOf(set ?? scope, before?.scope, before?.wanted_scope);
}
