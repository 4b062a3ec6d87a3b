/**
 * Account tokens, as isolates get them: from the caller's own record of a server, else from the account's object. The object's reply is
 * remembered until a record brings a newer token, so a warm call makes no request. Accounts with pasted tokens pass unchanged.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { HeldAccount } from '../../shared/identity/account.ts';
import { principalOwner } from '../../shared/identity/object-owners.ts';
import { Lru } from '../../shared/util/lru.ts';
import type { WaitUntil } from '../../shared/util/wait-until.ts';
import { withAccount } from '../registry/own-account.ts';
import type { Server } from '../registry/server-schema.ts';
import type { AccountTokenReply, Held } from './account-token-schema.ts';

/** The object of a principal at a server. */
export interface AccountTokenRemote {
  accountToken(held: Held): Promise<AccountTokenReply>;
  /** Notes the scope that the server wants beyond what the account has. */
  wantScope(accountId: string, scope: string): Promise<void>;
}

/** A token in use is renewed after this part of its lifetime. */
const FRESH_PART = 0.8;
/** A token is not sent when its remaining time is below this part of its lifetime or this time (milliseconds), whichever is shorter. */
const LAST_PART = 0.02;
const LAST_MS = 10_000;
/** Between the two, the minimum time between two renewal requests of one isolate, in milliseconds. */
const REQUEST_GAP_MS = 10_000;
const MAX_REMEMBERED = 1_000;

interface Renewed extends HeldAccount {
  serial: number;
  issuedAt: number;
  expiresAt: number;
}

const isRenewed = (account: HeldAccount): account is Renewed => account.expiresAt !== null;

const lifetimeOf = ({ issuedAt, expiresAt }: Renewed) => expiresAt - issuedAt;
const isDue = (account: Renewed, now: number) =>
  now >= account.issuedAt + lifetimeOf(account) * FRESH_PART;
const isOver = (account: Renewed, now: number) =>
  now >= account.expiresAt - Math.min(LAST_MS, lifetimeOf(account) * LAST_PART);

export class RemoteAccountTokens {
  readonly #remote: (owner: string) => AccountTokenRemote;
  readonly #waitUntil: WaitUntil;
  readonly #answered = new Lru<string, Renewed>(MAX_REMEMBERED);
  readonly #requestedAt = new Lru<string, number>(MAX_REMEMBERED);

  /**
   * @param remote returns a client's object by its name
   * @param waitUntil of whichever request runs
   */
  constructor(remote: (owner: string) => AccountTokenRemote, waitUntil: WaitUntil) {
    this.#remote = remote;
    this.#waitUntil = waitUntil;
  }

  /** The record with the newest token known in this isolate. The same arguments return the same record. */
  newest(server: Server): Server {
    const { account } = server;
    if (!account || !isRenewed(account)) return server;
    const answered = this.#answered.get(account.id);
    const isNewer = answered?.revision === account.revision && answered.serial > account.serial;
    return isNewer ? withAccount(server, answered) : server;
  }

  /** Whether the record's token can be sent without a renewal. */
  isFresh({ account }: Server): boolean {
    return !account || !isRenewed(account) || !isDue(account, Date.now());
  }

  /**
   * Returns the record with a token that can be sent now.
   * @throws PorticoError `account_required`, `credential_unavailable`
   */
  async current(server: Server): Promise<Server> {
    const { account } = server;
    const now = Date.now();
    if (!account || !isRenewed(account) || !isDue(account, now)) return server;
    if (isOver(account, now)) return this.#renew(server, account, false);
    if (now - (this.#requestedAt.get(account.id) ?? 0) < REQUEST_GAP_MS) return server;
    this.#requestedAt.set(account.id, now);
    // The call neither waits for this renewal nor fails with it.
    this.#waitUntil(this.#renew(server, account, false).catch(() => {}));
    return server;
  }

  /**
   * Reports that the server refused the token of a record. @returns whether there is another one
   * @throws PorticoError `account_required`, `credential_unavailable`
   */
  async refuse(server: Server, serial: number): Promise<boolean> {
    const { account } = server;
    if (!account || !isRenewed(account)) return false;
    const renewed = await this.#renew(server, { ...account, serial }, true);
    return (renewed.account?.serial ?? 0) > serial;
  }

  /** Reports that the server wants more scope than the account has. */
  async want({ account }: Server, scope: string): Promise<void> {
    if (account && isRenewed(account)) await this.#objectOf(account).wantScope(account.id, scope);
  }

  async #renew(server: Server, account: Renewed, isRefused: boolean): Promise<Server> {
    const { id: accountId, serial } = account;
    const held = { accountId, serial, isRefused };
    const reply = await this.#objectOf(account).accountToken(held).catch(toFailure);
    if ('failure' in reply) throw new PorticoError(reply.code, reply.failure);
    const renewed: Renewed = { ...account, ...reply.token };
    this.#answered.set(accountId, renewed);
    return withAccount(server, renewed);
  }

  #objectOf({ principalId, serverId }: HeldAccount): AccountTokenRemote {
    return this.#remote(principalOwner(principalId, serverId));
  }
}

/** The object stopped during the request; nothing was sent to the server. */
const toFailure = (): AccountTokenReply => ({
  failure: 'The account could not be renewed; try again',
  code: 'credential_unavailable',
});
