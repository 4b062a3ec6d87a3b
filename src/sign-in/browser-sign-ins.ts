/**
 * Signs people in and out, each with an audit row. A sign-in is the HMAC of a cookie beside the credential it came by. That credential's
 * state is read together with the sign-in each time, so a sign-in by token ends as soon as the token does.
 */
import { whenTokenValue } from '../access/policy/token-store.ts';
import { deleteRecord, whenRecord } from '../records/record-store.ts';
import { isTokenForm, toOwnActor } from '../shared/identity/principal.ts';
import { makeSignIn, NOBODY, refused, type SignInPorts } from './make-sign-in.ts';
import { isCookieSafe, readCookie } from './sign-in-cookie.ts';
import { isInvitationForm, toInvitationHmacs } from './invitation-code.ts';
import { findOpenInvitation, INVITATIONS } from './invitation-store.ts';
import { findSignedIn, findSigningToken, SIGN_INS } from './sign-in-store.ts';
import type { SignedIn, SignIns } from './signed-in.ts';

export interface BrowserPorts extends SignInPorts {
  /** The token of the deployment's administrator, who is no principal and cannot sign in. */
  adminToken: string | undefined;
}

const SETUP_ADMIN =
  'The token of the deployment cannot sign in. Use the address that was printed at the start, or make a token of your own: portico token create NAME';
const NO_TLS = 'Signing in needs https';

export class BrowserSignIns implements SignIns {
  readonly #ports: BrowserPorts;

  constructor(ports: BrowserPorts) {
    this.#ports = ports;
  }

  async of(request: Request, url: URL): Promise<SignedIn | undefined> {
    const cookie = readCookie(request, url);
    return cookie === undefined ? undefined : this.ofCookie(cookie);
  }

  /** Returns who is signed in with a cookie's value; undefined if nobody is. */
  async ofCookie(value: string): Promise<SignedIn | undefined> {
    const { db, keys } = this.#ports;
    return findSignedIn(db, await keys.hmacs('sign-in', value), Date.now());
  }

  /**
   * Signs in the owner of a token, or the person invited by a code, which is used up by this.
   * @returns the value of the cookie
   * @throws PorticoError `forbidden`, with the same text for every refused input except the deployment's token
   */
  async by(text: string, url: URL): Promise<string> {
    if (!isCookieSafe(url)) throw refused(NO_TLS);
    if (isTokenForm(text)) return this.#byToken(text);
    if (isInvitationForm(text)) return this.#byInvitation(text);
    throw refused(NOBODY);
  }

  async #byToken(text: string): Promise<string> {
    const { db, keys, adminToken } = this.#ports;
    const hmacs = await keys.hmacs('token', text);
    const token = await findSigningToken(db, hmacs, Date.now());
    if (!token) {
      const [ofAdmin] = adminToken ? await keys.hmacs('token', adminToken) : [];
      throw refused(ofAdmin === hmacs[0] ? SETUP_ADMIN : NOBODY);
    }
    return makeSignIn(this.#ports, {
      principal_id: token.principal_id,
      token_id: token.id,
      identity_id: null,
      when: whenTokenValue(token.id, { hmac: token.hmac, keyId: null }),
      asToken: token.id,
      detail: { by: 'token' },
    });
  }

  async #byInvitation(code: string): Promise<string> {
    const { db, keys } = this.#ports;
    const now = Date.now();
    const invitation = await findOpenInvitation(db, await toInvitationHmacs(keys, code), now);
    if (!invitation) throw refused(NOBODY);
    const { id, principal_id } = invitation;
    return makeSignIn(this.#ports, {
      principal_id,
      token_id: null,
      identity_id: null,
      when: whenRecord(INVITATIONS, id),
      asToken: id,
      detail: { by: 'invitation' },
      andThen: deleteRecord(db, INVITATIONS, id),
    });
  }

  /** Signs a browser out. */
  async end({ id, principalId, tokenId }: SignedIn): Promise<void> {
    const { db, adminAudit } = this.#ports;
    const act = { action: 'sign_in.delete', subject: id };
    await adminAudit.perform(toOwnActor(principalId, tokenId ?? id), 'admin', act, commit =>
      commit({ when: whenRecord(SIGN_INS, id), statements: deleteRecord(db, SIGN_INS, id) }),
    );
  }
}
