/**
 * Copies of the sessions that a legacy client has at upstreams, in the row of its own session: the read that admits a request brings
 * them, so a call from an isolate that remembers none waits for no object. What counts is what the client's object has stored. A copy is
 * sealed, and bound to the client's session and to the server.
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
   * The copy for an owner at a server, or undefined where there is none that opens.
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

  /** Keeps a copy; of owners that have no session none is kept. */
  async keep(owner: string, serverId: string, session: UpstreamSession): Promise<void> {
    const id = sessionOf(owner);
    if (id === undefined) return;
    const text = JSON.stringify(session);
    const sealed = await this.#keys.seal('session', text, aadOf(owner, serverId));
    await updateCopy(this.#db, id, serverId, sealed).run();
  }
}
