/**
 * Passkeys: registered by a signed-in person, who can later sign in with them. A passkey holds no rights of its own. It refers to the token
 * or identity its owner was signed in with at registration, and so has the same limits, scopes and end.
 *
 * A response signs in only once: each must answer a younger challenge than the one before, which is written in the batch of its sign-in.
 * The authenticator's counter alone is not enough, since passkeys that are synced between devices have none.
 */
import { insertRecord, deleteRecord, whereEqual } from '../../records/record-store.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { toOwnActor } from '../../shared/identity/principal.ts';
import { makeSignIn, NOBODY, refused, type SignInPorts } from '../make-sign-in.ts';
import { isCookieSafe } from '../sign-in-cookie.ts';
import { whereOwn } from '../sign-in-store.ts';
import type { SignedIn } from '../signed-in.ts';
import { CHALLENGE_MS, makeChallenge, openChallenge } from './passkey-challenge.ts';
import {
  ALGORITHMS,
  checkAddition,
  checkAssertion,
  parseAssertion,
  toUserHandle,
} from './passkey-check.ts';
import { MAX_NAME_CHARS, MAX_PASSKEYS, type Passkey } from './passkey-schema.ts';
import {
  findByCredential,
  listPasskeys,
  noteUse,
  PASSKEYS,
  whenNew,
  whenOf,
  whenUsable,
} from './passkey-store.ts';

export interface PasskeyPorts extends SignInPorts {
  onAccessChanged(): Promise<void>;
}

/** Options for the browser, as JSON for `PublicKeyCredential`, and the cookie that belongs to them. */
export interface PasskeyOptions {
  options: object;
  sealed: string;
}

/** Whether a host can have passkeys: they are bound to a domain name, never to an IP address (WebAuthn §5.1.3). */
export const canHavePasskeys = (url: URL): boolean =>
  isCookieSafe(url) && !url.hostname.startsWith('[') && !/^[\d.]+$/.test(url.hostname);

const NOT_HERE = 'Passkeys need https and a host with a name';
const NOT_ADDED = 'This passkey cannot be added; start again';

export class Passkeys {
  readonly #ports: PasskeyPorts;

  constructor(ports: PasskeyPorts) {
    this.#ports = ports;
  }

  /** Begins a sign-in. No user is named, so that nothing reveals who has a passkey. @throws PorticoError `forbidden` */
  async signInOptions(url: URL): Promise<PasskeyOptions> {
    if (!canHavePasskeys(url)) throw refused(NOT_HERE);
    const { challenge, sealed } = await makeChallenge(this.#ports.keys, 'sign-in', Date.now());
    const options = {
      challenge,
      rpId: url.hostname,
      timeout: CHALLENGE_MS,
      userVerification: 'required',
      allowCredentials: [],
    };
    return { options, sealed };
  }

  /**
   * Signs in with a browser's response.
   * @param sealed the browser's challenge cookie
   * @param text JSON of the response
   * @returns the value of the cookie
   * @throws PorticoError `forbidden`, with the same text for every fault
   */
  async signIn(url: URL, sealed: string | undefined, text: string): Promise<string> {
    const { db, keys } = this.#ports;
    const now = Date.now();
    const made = canHavePasskeys(url)
      ? await openChallenge(keys, sealed, 'sign-in', now)
      : undefined;
    const answer = made && parseAssertion(text);
    const passkey = answer && (await findByCredential(db, answer.id));
    if (!passkey) throw refused(NOBODY);
    const counter = await checkAssertion(answer, passkey, { challenge: made.challenge, url });
    if (counter === undefined) throw refused(NOBODY);
    const { id, principal_id, token_id, identity_id } = passkey;
    const use = { challengedAt: made.madeAt, counter, now };
    return makeSignIn(this.#ports, {
      principal_id,
      token_id,
      identity_id,
      passkey_id: id,
      when: whenUsable(passkey, use),
      asToken: token_id ?? id,
      detail: { by: 'passkey', passkey: id },
      andThen: [noteUse(db, passkey, use)],
    });
  }

  /** Lists the passkeys that belong to what the person is signed in by, as the API does, oldest first. */
  listOf(signedIn: SignedIn): Promise<Passkey[]> {
    return listPasskeys(this.#ports.db, whereOwn(this.#actorOf(signedIn)));
  }

  /** Lists all passkeys of the person: an authenticator would replace one by another. */
  #allOf({ principalId }: SignedIn): Promise<Passkey[]> {
    return listPasskeys(this.#ports.db, whereEqual({ principal_id: principalId }));
  }

  /** Begins to add a passkey. @throws PorticoError `forbidden`, `conflict` if there are too many */
  async addOptions(url: URL, signedIn: SignedIn): Promise<PasskeyOptions> {
    if (!canHavePasskeys(url)) throw refused(NOT_HERE);
    if ((await this.listOf(signedIn)).length >= MAX_PASSKEYS) throw tooMany();
    const known = await this.#allOf(signedIn);
    const { principalId, name } = signedIn;
    const { keys } = this.#ports;
    const { challenge, sealed } = await makeChallenge(keys, `add ${signedIn.id}`, Date.now());
    const options = {
      challenge,
      rp: { id: url.hostname, name: 'Portico' },
      user: { id: toUserHandle(principalId), name, displayName: name },
      pubKeyCredParams: ALGORITHMS.map(alg => ({ type: 'public-key', alg })),
      timeout: CHALLENGE_MS,
      attestation: 'none',
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      excludeCredentials: known.map(({ credential_id: id, transports }) => ({
        type: 'public-key',
        id,
        transports,
      })),
    };
    return { options, sealed };
  }

  /**
   * Adds the passkey that a browser created.
   * @param sealed the browser's challenge cookie
   * @throws PorticoError `forbidden`, with the same text for every fault; `conflict` if there are too many
   */
  async add(
    url: URL,
    signedIn: SignedIn,
    sealed: string | undefined,
    { name, answer }: { name: string; answer: string },
  ): Promise<void> {
    const { db, keys, adminAudit } = this.#ports;
    const { id: signInId, principalId, tokenId, identityId } = signedIn;
    const now = Date.now();
    const made = await openChallenge(keys, sealed, `add ${signInId}`, now);
    const credential = made && (await checkAddition(answer, { challenge: made.challenge, url }));
    if (!credential || !canHavePasskeys(url)) throw refused(NOT_ADDED);
    const passkey: Passkey = {
      ...credential,
      id: crypto.randomUUID(),
      principal_id: principalId,
      principal_name: signedIn.name,
      token_id: tokenId,
      identity_id: identityId,
      name: name.trim().slice(0, MAX_NAME_CHARS) || 'Passkey',
      challenged_at: 0,
      created_at: now,
      last_used_at: null,
    };
    const act = { action: 'passkey.create', subject: passkey.id };
    const when = whenNew(passkey, signedIn);
    await adminAudit.perform(this.#actorOf(signedIn), 'admin', act, async commit => {
      const isDone = await commit({
        when,
        statements: [insertRecord(db, PASSKEYS, passkey, when)],
        detail: { name: passkey.name, principal: principalId },
      });
      if (isDone) return;
      throw (await this.listOf(signedIn)).length >= MAX_PASSKEYS ? tooMany() : refused(NOT_ADDED);
    });
  }

  /** Deletes one of the passkeys that `listOf` lists; what came from it ends. @throws PorticoError `not_found` */
  async remove(signedIn: SignedIn, id: string): Promise<void> {
    const { db, adminAudit, onAccessChanged } = this.#ports;
    const { principalId } = signedIn;
    const found = (await this.listOf(signedIn)).find(passkey => passkey.id === id);
    if (!found) throw new PorticoError('not_found', 'No such passkey');
    const act = { action: 'passkey.delete', subject: id };
    await adminAudit.perform(this.#actorOf(signedIn), 'admin', act, commit =>
      commit({
        when: whenOf(id, principalId),
        statements: deleteRecord(db, PASSKEYS, id),
        detail: { name: found.name, principal: principalId },
      }),
    );
    await onAccessChanged();
  }

  #actorOf({ id, principalId, tokenId }: SignedIn) {
    return toOwnActor(principalId, tokenId ?? id);
  }
}

const tooMany = () =>
  new PorticoError('conflict', `There are ${MAX_PASSKEYS} passkeys already; remove one first`);
