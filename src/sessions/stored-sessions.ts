/** A client's sessions at upstreams as its object stores them: one for each server. */
import type { UpstreamSession } from '../upstream/session/acquire-session.ts';
import type { EndedSession } from './client-object.ts';

const keyOf = (serverId: string) => `upstream/${serverId}`;

export class StoredSessions {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  find(serverId: string): Promise<UpstreamSession | undefined> {
    return this.#storage.get<UpstreamSession>(keyOf(serverId));
  }

  keep(serverId: string, session: UpstreamSession): Promise<void> {
    return this.#storage.put(keyOf(serverId), session);
  }

  /** Forgets a session that its server no longer knows; a newer session stays. */
  async forget(serverId: string, sessionId: string): Promise<void> {
    const stored = await this.find(serverId);
    if (stored?.sessionId === sessionId) await this.#storage.delete(keyOf(serverId));
  }

  /** Notes that a server offers no notification stream in a session. */
  async noteNoStream(serverId: string, sessionId: string): Promise<void> {
    const stored = await this.find(serverId);
    if (stored?.sessionId !== sessionId) return;
    await this.keep(serverId, { ...stored, hasNoStream: true });
  }

  async all(): Promise<EndedSession[]> {
    const prefix = keyOf('');
    const stored = await this.#storage.list<UpstreamSession>({ prefix });
    return [...stored].map(([key, session]) => ({ serverId: key.slice(prefix.length), session }));
  }
}
