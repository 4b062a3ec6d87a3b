/**
 * Clients with a document. Documents are cached by the isolate, within limits, and stored only after somebody granted the client something,
 * so that a flood of ids fills no table. A changed document takes effect when the cached one is no longer fresh. While a document cannot be
 * read, the former one is used for another hour.
 */
import { Lru } from '../../shared/util/lru.ts';
import { OAuthError } from '../oauth-error.ts';
import { parseDocument } from './client-document.ts';
import {
  findClient,
  insertClient,
  refreshClient,
  sweepClients,
  touchClient,
} from './client-store.ts';
import type { StoredClient } from './client-store.ts';
import type { DocumentReader } from './document-reader.ts';

export interface DocumentClientsPorts {
  db: D1Database;
  reader: DocumentReader;
  /** Reads the documents of stored clients. */
  readerInUse: DocumentReader;
  now(): number;
}

const MAX_REMEMBERED = 200;
const MAX_BYTES = 5_120;
/** Longest use of a document beyond its freshness, in milliseconds. */
const STALE_MS = 3_600_000;

type Known = StoredClient & { freshUntil: number };

export class DocumentClients {
  readonly #ports: DocumentClientsPorts;
  readonly #known = new Lru<string, Known>(MAX_REMEMBERED);

  constructor(ports: DocumentClientsPorts) {
    this.#ports = ports;
  }

  /** @param id of a document @throws OAuthError `invalid_client`, `temporarily_unavailable` */
  async find(id: string): Promise<StoredClient> {
    const { db, now } = this.#ports;
    const remembered = this.#known.get(id);
    if (remembered && remembered.freshUntil > now()) return remembered;
    const stored = await findClient(db, id);
    const known = latest(remembered, stored);
    if (known && known.freshUntil > now()) {
      this.#known.set(id, known);
      return known;
    }
    try {
      const { reader, readerInUse } = this.#ports;
      const read = await this.#read(id, stored ? readerInUse : reader);
      this.#known.set(id, read);
      if (stored) await refreshClient(db, read).run();
      return read;
    } catch (error) {
      const isTrouble = error instanceof OAuthError && error.code === 'temporarily_unavailable';
      if (isTrouble && known && now() < known.freshUntil + STALE_MS) return known;
      this.#known.delete(id);
      throw error;
    }
  }

  /** Records that the client was used; the first use stores it. */
  async touch(id: string, now: number): Promise<void> {
    const { db } = this.#ports;
    const { meta } = await touchClient(db, id, now).run();
    if (meta.changes > 0 || (await findClient(db, id))) return;
    const client = await this.find(id);
    const insert = insertClient(db, { ...client, createdAt: now }, now);
    await db.batch([insert, ...sweepClients(db, now)]);
  }

  async #read(id: string, reader: DocumentReader): Promise<Known> {
    const { now } = this.#ports;
    const { value, freshUntil } = await reader.read({
      url: id,
      maxBytes: MAX_BYTES,
      what: 'The metadata document of the client',
      parse: text => parseDocument(id, text),
    });
    return { ...value, secretHmac: null, keyId: null, createdAt: now(), freshUntil };
  }
}

/** Returns the one that was read last. */
function latest(
  remembered: Known | undefined,
  stored: StoredClient | undefined,
): Known | undefined {
  const ofTable =
    stored?.kind === 'document' ? { ...stored, freshUntil: stored.freshUntil ?? 0 } : undefined;
  if (!remembered || !ofTable) return remembered ?? ofTable;
  return remembered.freshUntil >= ofTable.freshUntil ? remembered : ofTable;
}
