/**
 * Records refusals of known clients at `/token` and `/revoke` in the audit: a wrong secret, code, verifier or audience. Strangers can cause
 * them too, so there is at most one row per minute for each client and kind of refusal, and a limit for all of them together. Each isolate
 * counts for itself.
 */
import type { AdminAudit } from '../audit/admin-audit.ts';
import { PorticoError } from '../shared/errors/portico-error.ts';
import { toOwnActor } from '../shared/identity/principal.ts';
import type { OAuthError, OAuthErrorCode } from './oauth-error.ts';

/** In milliseconds. */
const WINDOW_MS = 60_000;
const MAX_IN_WINDOW = 30;
const MAX_ID_CHARS = 300;

/** The recorded action by error code. Temporary errors and malformed requests are not recorded. */
const ACTIONS = new Map<OAuthErrorCode, string>([
  ['invalid_client', 'client.authenticate'],
  ['unauthorized_client', 'client.authenticate'],
  ['invalid_grant', 'grant.use'],
  ['invalid_target', 'grant.use'],
  ['invalid_scope', 'grant.use'],
]);

export class Refusals {
  readonly #adminAudit: AdminAudit;
  readonly #now: () => number;
  #windowAt = Number.NEGATIVE_INFINITY;
  readonly #reported = new Set<string>();

  constructor(adminAudit: AdminAudit, now: () => number) {
    this.#adminAudit = adminAudit;
    this.#now = now;
  }

  /** Records a refusal, if its code is recorded and the limits allow it. Never throws. */
  async note(refusal: OAuthError): Promise<void> {
    const action = ACTIONS.get(refusal.code);
    if (refusal.clientId === undefined || action === undefined) return;
    const client = refusal.clientId.slice(0, MAX_ID_CHARS);
    if (!this.#hasRoom(`${action} ${client}`)) return;
    const act = { action, subject: client };
    const refused = new PorticoError('forbidden', refusal.message);
    await this.#adminAudit
      .perform(toOwnActor(client, client), 'admin', act, () => Promise.reject(refused))
      .catch(() => {});
  }

  #hasRoom(key: string): boolean {
    const now = this.#now();
    if (now - this.#windowAt >= WINDOW_MS) {
      this.#windowAt = now;
      this.#reported.clear();
    }
    if (this.#reported.has(key) || this.#reported.size >= MAX_IN_WINDOW) return false;
    this.#reported.add(key);
    return true;
  }
}
