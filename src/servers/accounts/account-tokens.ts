/**
 * The access tokens of accounts whose owners signed in at an issuer. Lives in the object of a principal at a server, of which the whole
 * deployment has one: every request for a token during a renewal waits for that renewal.
 *
 * Invariants: a new refresh token is stored before the access token that came with it is returned; a renewal is noted in the database
 * before its request is sent; an account ends only for one of the reasons in `grant-schema.ts`: any other failure keeps its refresh token.
 */
import type { AdminAudit } from '../../audit/admin-audit.ts';
import {
  GrantRefused,
  OtherIssuer,
  type CodeFlowPort,
} from '../../credentials/oauth/code-flow-schema.ts';
import { openEnvelope } from '../../shared/crypto/envelope.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { PorticoError, toPorticoError } from '../../shared/errors/portico-error.ts';
import type { FreshToken } from '../../shared/identity/account.ts';
import { toOwnActor } from '../../shared/identity/principal.ts';
import { toRestMs } from '../../shared/util/backoff.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import type { Server } from '../registry/server-schema.ts';
import { findServer } from '../registry/server-store.ts';
import {
  refreshPlace,
  toEndText,
  tokenPlaceOf,
  type EndReason,
  type Grant,
} from './grant-schema.ts';
import type { AccountTokenReply, Held } from './account-token-schema.ts';
import {
  endGrant,
  findGrant,
  noteSent,
  noteWanted,
  storeRenewed,
  whenStill,
} from './grant-store.ts';
import { sealIssued, type SealedTokens } from './sealed-tokens.ts';
import type { UpstreamClients } from './upstream-clients.ts';

export interface AccountTokenPorts {
  db: D1Database;
  keys: KeyRing;
  adminAudit: AdminAudit;
  flow: Pick<CodeFlowPort, 'find' | 'refresh'>;
  clients: Pick<UpstreamClients, 'of' | 'forget'>;
  /** Keeps a renewal that has begun running to its end, even if the requester is gone. */
  waitUntil: WaitUntil;
}

/** A token that the server refuses before it reaches this age is not renewed, because a new one would be refused too; in milliseconds. */
const YOUNG_MS = 60_000;
/** Error codes of RFC 6749 §5.2 that end the grant. */
const OVER: Readonly<Record<string, EndReason>> = {
  invalid_grant: 'refused',
  invalid_client: 'client_gone',
  unauthorized_client: 'client_gone',
};
const REFUSED = 'The server refuses your account';

export class AccountTokens {
  readonly #ports: AccountTokenPorts;
  #working: Promise<FreshToken> | undefined;
  /** Tokens from the issuer that the database has not stored yet. */
  #unstored: { grant: Grant; given: SealedTokens } | undefined;
  #failures = 0;
  #triedAt = 0;
  #lastFailure: PorticoError | undefined;

  constructor(ports: AccountTokenPorts) {
    this.#ports = ports;
  }

  /** Returns a newer token than the held one, or the reason why there is none. */
  async answer(held: Held): Promise<AccountTokenReply> {
    try {
      this.#working ??= this.#begin(held);
      return { token: await this.#working };
    } catch (thrown) {
      const { code, message } = toPorticoError(thrown);
      if (code === 'account_required') return { failure: message, code };
      const failure = code === 'credential_unavailable' ? message : 'The account cannot be renewed';
      return { failure, code: 'credential_unavailable' };
    }
  }

  #begin(held: Held): Promise<FreshToken> {
    const work = this.#after(held).finally(() => {
      this.#working = undefined;
    });
    this.#ports.waitUntil(work.catch(() => {}));
    return work;
  }

  /** Notes the scope that the server wants beyond what the account has; the owner's next sign-in requests it. */
  async want(accountId: string, scope: string): Promise<void> {
    await noteWanted(this.#ports.db, accountId, scope).run();
  }

  async #after({ accountId, serial, isRefused }: Held): Promise<FreshToken> {
    if (this.#unstored) return this.#store(this.#unstored.grant, this.#unstored.given);
    const { db } = this.#ports;
    const grant = await findGrant(db, accountId);
    if (!grant) throw new PorticoError('account_required');
    if (grant.ended) throw over(grant.ended);
    const now = Date.now();
    if (grant.serial > serial && now < grant.expires_at) return toToken(grant);
    if (isRefused && now - grant.issued_at < YOUNG_MS) throw refused();
    if (grant.refresh_sealed === null) {
      if (now < grant.expires_at) throw refused();
      return this.#end(grant, 'expired');
    }
    if (now - this.#triedAt < toRestMs(this.#failures) && this.#lastFailure)
      throw this.#lastFailure;
    const server = await findServer(db, grant.server_id);
    if (!server) throw new PorticoError('account_required');
    this.#triedAt = now;
    try {
      if (isRefused && (await this.#isElsewhere(server, grant))) {
        return await this.#end(grant, 'issuer_changed');
      }
      const token = await this.#renew(server, grant);
      this.#failures = 0;
      return token;
    } catch (thrown) {
      this.#failures += 1;
      this.#lastFailure = toPorticoError(thrown);
      throw thrown;
    }
  }

  /** Whether the server now names other issuers and no longer this one. A server that names none counts as unchanged. */
  async #isElsewhere({ url }: Server, { issuer }: Grant): Promise<boolean> {
    const found = this.#ports.flow.find(url, { issuer });
    return found.then(
      () => false,
      (thrown: unknown) => thrown instanceof OtherIssuer,
    );
  }

  async #renew(server: Server, grant: Grant): Promise<FreshToken> {
    const { db, keys, flow, clients } = this.#ports;
    const refreshToken = await openEnvelope(keys, grant.refresh_sealed ?? '', refreshPlace(grant));
    if (refreshToken === undefined) throw unavailable('The stored account cannot be opened');
    const client = await clients.of(server, grant);
    if (!client) return this.#end(grant, 'client_gone');
    if (!(await noteSent(db, grant))) return this.#newest(grant);
    try {
      const issued = await flow.refresh(tokenPlaceOf(grant), client, refreshToken);
      const serial = grant.serial + 1;
      const given = await sealIssued(keys, server, grant, serial, {
        ...issued,
        refreshToken: issued.refreshToken ?? refreshToken,
      });
      return await this.#store(grant, given);
    } catch (thrown) {
      const reason = thrown instanceof GrantRefused ? OVER[thrown.reason] : undefined;
      if (reason === undefined) throw thrown;
      const current = await findGrant(db, grant.account_id);
      if (current && current.serial > grant.serial && !current.ended) return toToken(current);
      if (reason === 'client_gone') await clients.forget(grant);
      // The response to an earlier renewal was lost: the issuer now accepts only the refresh token that it contained.
      const isLost = reason === 'refused' && grant.sent_serial === grant.serial;
      return this.#end(grant, isLost ? 'answer_lost' : reason);
    }
  }

  /**
   * Stores renewed tokens. They stay in memory until the database has them, because the issuer no longer accepts the former refresh token.
   */
  async #store(grant: Grant, given: SealedTokens): Promise<FreshToken> {
    this.#unstored = { grant, given };
    const isStored = await storeRenewed(this.#ports.db, grant, given.token, {
      refreshSealed: given.refreshSealed ?? '',
      scope: given.scope ?? grant.scope,
    });
    this.#unstored = undefined;
    return isStored ? given.token : this.#newest(grant);
  }

  /** Returns the token of an account that was changed elsewhere in the meantime. */
  async #newest({ account_id }: Grant): Promise<FreshToken> {
    const grant = await findGrant(this.#ports.db, account_id);
    if (!grant || grant.ended || Date.now() >= grant.expires_at) {
      throw unavailable('The account was changed meanwhile; try again');
    }
    return toToken(grant);
  }

  async #end(grant: Grant, reason: EndReason): Promise<never> {
    const { db, adminAudit } = this.#ports;
    const actor = toOwnActor(grant.principal_id, grant.account_id);
    const act = { action: 'account.expire', subject: grant.account_id };
    await adminAudit.perform(actor, 'admin', act, commit =>
      commit({
        when: whenStill(grant),
        statements: endGrant(db, grant, reason),
        detail: { server: grant.server_id, issuer: grant.issuer, reason },
      }),
    );
    throw over(reason);
  }
}

const toToken = ({ auth_sealed, serial, issued_at, expires_at }: Grant): FreshToken => ({
  sealed: auth_sealed,
  serial,
  issuedAt: issued_at,
  expiresAt: expires_at,
});

const over = (reason: EndReason) => new PorticoError('account_required', toEndText(reason));
const refused = () => new PorticoError('account_required', REFUSED);
const unavailable = (detail: string) => new PorticoError('credential_unavailable', detail);
