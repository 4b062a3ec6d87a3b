/**
 * Copies of a legacy client's sessions at upstreams, in the row of its own session. The read that admits a request brings them along, so
 * that a call from an isolate that remembers none waits for no object. The session stored in the client's object is authoritative. A copy
 * is sealed, and bound to the client's session and to the server.
 */
import { updateCopy } from '../access/admission/session-store.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';
import { sessionOf } from '../shared/identity/object-owners.ts';
import type { UpstreamSession } from '../upstream/session/acquire-session.ts';

const aadOf = (owner: string, serverId: string) => `upstream-session ${owner} ${serverId}`;

export class SessionCopies {
  readonly #db: D1Database;
  readonly #keys: KeyRing;

  constructor(db: D1Database, keys: KeyRing) {
    this.#db = db;
    this.#keys = keys;
  }

  /**
   * Returns an owner's copy for a server; undefined where there is none that can be opened.
   * @param copies text of the session's row
   */
  async open(
    copies: string | undefined,
    owner: string,
    serverId: string,
  ): Promise<UpstreamSession | undefined> {
    if (copies === undefined) return undefined;
    const sealed = (JSON.parse(copies) as Record<string, string>)[serverId];
    if (sealed === undefined) return undefined;
    const text = await this.#keys.open('session', sealed, aadOf(owner, serverId));
    return text === undefined ? undefined : (JSON.parse(text) as UpstreamSession);
  }

  /** Stores a copy; does nothing for owners without a session. */
  async keep(owner: string, serverId: string, session: UpstreamSession): Promise<void> {
    const id = sessionOf(owner);
    if (id === undefined) return;
    const text = JSON.stringify(session);
    const sealed = await this.#keys.seal('session', text, aadOf(owner, serverId));
    await updateCopy(this.#db, id, serverId, sealed).run();
  }
}
