/**
 * ServerMonitor: one object per registered server, driven by its alarm. Negotiates once and
 * remembers the verdict, discovers, writes the catalog and the server's row, retries with jittered
 * backoff, and hears of changes where the server can tell. The only writer of that server's
 * catalog and discovered state; no request waits for it.
 *
 * Invariants: a catalog is in KV before a row names it; one look runs at a time; a deleted server
 * leaves no alarm and no stored value.
 */
import { DurableObject } from 'cloudflare:workers';
import { parseConfig, type Env } from '../env.ts';
import { toPorticoError } from '../errors/portico-error.ts';
import { findServer, updateDiscovered, updateFailed } from '../registry/server-store.ts';
import type { Server } from '../registry/server-schema.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { createDeadline } from '../upstream/deadline.ts';
import { Destinations } from '../upstream/destination.ts';
import { UpstreamWatch } from '../upstream/watch.ts';
import { catalogHash, toCatalogText } from './catalog.ts';
import {
  deleteCatalogs,
  deleteCatalogText,
  findCatalogText,
  putCatalogText,
} from './catalog-kv.ts';
import { decideDelayMs, decideStatus } from './monitor-schedule.ts';

/** Longest time of one look at a server, in milliseconds. */
const LOOK_MS = 20_000;
/** A poke within this time after a look waits for the rest of it, in milliseconds. */
const POKE_GAP_MS = 200;

export class ServerMonitor extends DurableObject<Env> {
  readonly #config = parseConfig(this.env);
  readonly #destinations = new Destinations(
    createKeyRing(this.env.PORTICO_KEYS),
    this.#config.localMode,
  );
  #watch: UpstreamWatch | undefined;
  #lookedAt = 0;

  /** Begin to monitor a server that was just registered. */
  async start(serverId: string): Promise<void> {
    await this.ctx.storage.put('serverId', serverId);
    await this.ctx.storage.setAlarm(Date.now());
  }

  /** Look at the server soon: it told of a change, or a call found it unlike its verdict. */
  async poke(): Promise<void> {
    if ((await this.ctx.storage.get('serverId')) === undefined) return;
    const soon = Math.max(Date.now(), this.#lookedAt + POKE_GAP_MS);
    const due = await this.ctx.storage.getAlarm();
    if (due === null || due > soon) await this.ctx.storage.setAlarm(soon);
  }

  /** The server was deleted. */
  async stop(): Promise<void> {
    const serverId = await this.ctx.storage.get<string>('serverId');
    this.#watch?.close();
    this.#watch = undefined;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    if (serverId !== undefined) await deleteCatalogs(this.env.CATALOG, serverId);
  }

  /** Rebuild a catalog that KV no longer has: looks at the server and answers with its text. */
  async rebuild(hash: string): Promise<string | undefined> {
    const serverId = await this.ctx.storage.get<string>('serverId');
    if (serverId === undefined) return undefined;
    await this.#look(serverId, true);
    return findCatalogText(this.env.CATALOG, serverId, hash);
  }

  override async alarm(): Promise<void> {
    const serverId = await this.ctx.storage.get<string>('serverId');
    if (serverId !== undefined) await this.#look(serverId);
  }

  async #look(serverId: string, rewrite = false): Promise<void> {
    const server = await findServer(this.env.DB, serverId);
    if (!server || server.status === 'DISCONNECTED') {
      this.#watch?.close();
      this.#watch = undefined;
      return;
    }
    const before = (await this.ctx.storage.get<number>('failures')) ?? 0;
    const failures = (await this.#discover(server, before + 1, rewrite)) ? 0 : before + 1;
    if (failures !== before) await this.ctx.storage.put('failures', failures);
    this.#lookedAt = Date.now();
    const delayMs = decideDelayMs(failures, this.#config.discoveryIntervalMs, Math.random());
    const due = await this.ctx.storage.getAlarm();
    if (due === null || due > this.#lookedAt + delayMs) {
      await this.ctx.storage.setAlarm(this.#lookedAt + delayMs);
    }
  }

  /** One look at the server. @returns whether it succeeded */
  async #discover(server: Server, failuresIfNot: number, rewrite: boolean): Promise<boolean> {
    const deadline = createDeadline(LOOK_MS);
    try {
      const destination = await this.#destinations.of(server);
      if (this.#watch?.credentialKey !== destination.credentialKey) {
        this.#watch?.close();
        this.#watch = new UpstreamWatch(destination, {
          transport: server.transportType === 'SSE' ? 'sse' : 'http',
          maxBytes: this.#config.maxAnswerBytes,
          onNews: () => this.ctx.waitUntil(this.poke()),
        });
      }
      const { items, warning, verdict, capabilities, instructions } =
        await this.#watch.look(deadline);
      const text = toCatalogText({ items, capabilities, instructions });
      const hash = await catalogHash(text);
      if (rewrite || hash !== server.catalogHash) {
        await putCatalogText(this.env.CATALOG, server.id, hash, text);
      }
      await this.#write(
        server,
        { verdict, catalogHash: hash, toolCount: items.tools.length },
        warning,
      );
      return true;
    } catch (thrown) {
      const error = toPorticoError(thrown);
      this.#watch?.close();
      this.#watch = undefined;
      const status = decideStatus(server.status === 'CONNECTED', failuresIfNot);
      const line = `${error.code}: ${error.message}`;
      if (status !== server.status || line !== server.lastError) {
        await updateFailed(this.env.DB, server.id, status, line, Date.now()).run();
      }
      return false;
    } finally {
      deadline.release();
    }
  }

  /** Record what was found, where it differs from the row. */
  async #write(
    server: Server,
    found: Parameters<typeof updateDiscovered>[2],
    warning: string | null,
  ): Promise<void> {
    const changed = found.catalogHash !== server.catalogHash;
    const same =
      !changed &&
      server.status === 'CONNECTED' &&
      server.lastError === warning &&
      JSON.stringify(server.verdict) === JSON.stringify(found.verdict);
    if (same) return;
    await updateDiscovered(this.env.DB, server.id, found, warning, Date.now()).run();
    if (changed) await this.#retire(server.id, server.catalogHash);
  }

  /** Delete the catalog before the last one; requests may still be using the last. */
  async #retire(serverId: string, replaced: string | null): Promise<void> {
    const older = await this.ctx.storage.get<string>('replaced');
    const current = (await findServer(this.env.DB, serverId))?.catalogHash;
    if (older !== undefined && older !== replaced && older !== current) {
      await deleteCatalogText(this.env.CATALOG, serverId, older);
    }
    if (replaced !== null) await this.ctx.storage.put('replaced', replaced);
  }
}
