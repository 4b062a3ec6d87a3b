/**
 * Computes a model's embedding vectors for one server's tools, in the server's monitor. It runs after a check cycle, never during one, so
 * that no request and no discovery waits for it. After a catalog change the model is asked only for texts that are new.
 *
 * Invariants: one pass runs at a time; vectors are stored whole or not at all; after `stop` nothing is stored.
 */
import { parseCatalog } from '../../servers/catalog/catalog.ts';
import { toPutOffMs } from '../../shared/util/backoff.ts';
import type { Embedder } from '../../models/embedder-port.ts';
import { ModelFailure } from '../../models/model-port.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import { isOffered } from '../../servers/registry/status.ts';
import type { IndexPartPort } from './index-parts.ts';
import {
  buildModelVectors,
  MODEL_VECTORS_VERSION,
  readModelVectors,
  type ModelVectors,
} from './model-vectors.ts';
import { toSearchedTool } from './searched-tool.ts';

export interface ModelIndexingPorts {
  /** Storage of the server's monitor object. */
  storage: {
    get(key: string): Promise<unknown>;
    put(key: string, value: string): Promise<void>;
  };
  parts: IndexPartPort;
  embedder: Embedder;
  findCatalog(serverId: string, hash: string): Promise<string | undefined>;
  /** Schedules a check cycle at a time. */
  wake(at: number): Promise<void>;
}

/** Holds the hash of the catalog whose vectors were stored last, their version, and the name of their model. */
const KEY = 'modelVectors';

export class ModelIndexing {
  readonly #ports: ModelIndexingPorts;
  /** The running pass. */
  #running: { done: Promise<void>; ending: AbortController } | undefined;
  /** Hash of the catalog whose vectors are known to be stored. */
  #indexed: string | undefined;
  /** Vectors of the last pass, even if it was incomplete. */
  #last: ModelVectors | undefined;
  #failures = 0;
  #retryAt = 0;

  constructor(ports: ModelIndexingPorts) {
    this.#ports = ports;
  }

  /** Runs after a check cycle: makes missing vectors. Never throws; failed work is retried later. */
  async follow({ id, catalogHash, status }: Server): Promise<void> {
    if (this.#running || catalogHash === null || !isOffered(status)) return;
    if (this.#indexed === catalogHash || Date.now() < this.#retryAt) return;
    const ending = new AbortController();
    const done = this.#pass(id, catalogHash, ending.signal).catch(() => {
      // The storage failed; the next cycle tries again.
    });
    this.#running = { done, ending };
    await done;
    this.#running = undefined;
  }

  /** Called when the server is disconnected or deleted. Settles when nothing more will be stored. */
  async stop(): Promise<void> {
    this.#running?.ending.abort();
    await this.#running?.done;
  }

  async #pass(serverId: string, hash: string, signal: AbortSignal): Promise<void> {
    const { storage, parts, embedder, findCatalog } = this.#ports;
    const made = `${hash} ${MODEL_VECTORS_VERSION} ${embedder.name}`;
    const isMade = (await storage.get(KEY)) === made;
    const [stored] = isMade ? [] : await parts.findAll([{ serverId, hash }]);
    if (signal.aborted) return;
    // They may have been deleted with this catalog a moment ago, and storage that lags still return them: stored again, they stay.
    if (stored) await parts.put(serverId, hash, new Uint8Array(stored));
    if (!isMade && !stored) {
      const text = await findCatalog(serverId, hash);
      if (text === undefined) return;
      const tools = parseCatalog(hash, text).tools.items.map(({ raw }) => toSearchedTool(raw));
      const embed = (texts: readonly string[]) => embedder.embed(texts, signal);
      const previous = this.#last ?? (await this.#findPrevious(serverId));
      const { bytes, failure } = await buildModelVectors(tools, embed, embedder.maxTexts, previous);
      this.#last = readModelVectors(bytes.buffer);
      if (signal.aborted) return;
      if (failure !== undefined) return this.#putOff(failure);
      await parts.put(serverId, hash, bytes);
    }
    if (!isMade) await storage.put(KEY, made);
    this.#indexed = hash;
    this.#failures = 0;
  }

  /** Loads the vectors of the previous catalog, for when this object no longer has them in memory. */
  async #findPrevious(serverId: string): Promise<ModelVectors | undefined> {
    const made = await this.#ports.storage.get(KEY);
    const [hash] = typeof made === 'string' ? made.split(' ') : [];
    if (hash === undefined) return undefined;
    const [bytes] = await this.#ports.parts.findAll([{ serverId, hash }]);
    return bytes && readModelVectors(bytes);
  }

  async #putOff(failure: unknown): Promise<void> {
    const leastMs = failure instanceof ModelFailure ? (failure.retryAfterMs ?? 0) : 0;
    this.#failures += 1;
    this.#retryAt = Date.now() + toPutOffMs(this.#failures, leastMs);
    await this.#ports.wake(this.#retryAt);
  }
}
