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
import type { WatchFailure } from '../session/streams.ts';
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
import { Subscribers } from './subscribers.ts';
import { Teller } from './teller.ts';

/** Longest time of one look at a server, in milliseconds. */
const LOOK_MS = 20_000;
/** A poke within this time after a look waits for the rest of it, in milliseconds. */
const POKE_GAP_MS = 200;
/** Longest time a server may take to accept a subscription, in milliseconds. */
const SUBSCRIBE_MS = 10_000;
/** Clients are told this long after the oldest list is gone, in milliseconds. */
const TELL_MARGIN_MS = 50;

export class ServerMonitor extends DurableObject<Env> {
  readonly #config = parseConfig(this.env);
  readonly #destinations = new Destinations(
    createKeyRing(this.env.PORTICO_KEYS),
    this.#config.localMode,
  );
  readonly #teller = new Teller({
    storage: this.ctx.storage,
    db: this.env.DB,
    objects: this.env.CLIENT_SESSION,
    settleMs: this.#config.listMaxAgeMs + TELL_MARGIN_MS,
  });
  readonly #subscribers = new Subscribers(this.ctx.storage);
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
    const tell = serverId === undefined ? undefined : await this.#teller.farewell(serverId);
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    if (serverId !== undefined) await deleteCatalogs(this.env.CATALOG, serverId);
    if (tell) this.ctx.waitUntil(tell());
  }

  /** An object wants to hear of a resource. @returns why the server does not tell, if so */
  async subscribe(owner: string, uri: string): Promise<WatchFailure | undefined> {
    const serverId = await this.ctx.storage.get<string>('serverId');
    const server = serverId === undefined ? undefined : await findServer(this.env.DB, serverId);
    if (!server) return { code: 'resource_not_found', detail: `Resource not found: ${uri}` };
    const isFirst = await this.#subscribers.add(owner, uri);
    if (isFirst === undefined) {
      return { code: 'invalid_params', detail: 'This server has too many subscriptions' };
    }
    if (!isFirst && this.#watch) return undefined;
    const deadline = createDeadline(SUBSCRIBE_MS);
    try {
      await (await this.#watchOf(server)).subscribe(uri, deadline);
      return undefined;
    } catch (thrown) {
      await this.#subscribers.remove(owner, uri);
      const { code, message } = toPorticoError(thrown);
      return { code, detail: `${server.name}: ${message}` };
    } finally {
      deadline.release();
    }
  }

  /** An object no longer wants to hear of a resource. */
  async unsubscribe(owner: string, uri: string): Promise<void> {
    const wasLast = await this.#subscribers.remove(owner, uri);
    if (wasLast && this.#watch) this.ctx.waitUntil(this.#watch.unsubscribe(uri));
  }

  /** The server told of a resource: so are those who want to hear of it. */
  async #updated(serverId: string, uri: string, params: string): Promise<void> {
    const subscribers = await this.#subscribers.of(uri);
    const owners = [...new Set(subscribers.map(({ owner }) => owner))];
    const done = await this.#teller.tell(owners, { serverId, uri, params });
    for (const { owner, uri: subscribed } of subscribers) {
      if (done.includes(owner)) await this.unsubscribe(owner, subscribed);
    }
  }

  /** The standing relation to the server, renewed where its address or credential changed. */
  async #watchOf(server: Server): Promise<UpstreamWatch> {
    const destination = await this.#destinations.of(server);
    if (this.#watch?.credentialKey === destination.credentialKey) return this.#watch;
    this.#watch?.close();
    this.#watch = new UpstreamWatch(destination, {
      transport: server.transportType === 'SSE' ? 'sse' : 'http',
      maxBytes: this.#config.maxAnswerBytes,
      onNews: () => this.ctx.waitUntil(this.poke()),
      onUpdated: (uri, params) => this.ctx.waitUntil(this.#updated(server.id, uri, params)),
      uris: () => this.#subscribers.uris(),
    });
    return this.#watch;
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
    if ((await this.ctx.storage.get('serverId')) === undefined) {
      // Deleted while it was looked at: what this look wrote goes too.
      await this.stop();
      return deleteCatalogs(this.env.CATALOG, serverId);
    }
    if (failures !== before) await this.ctx.storage.put('failures', failures);
    await this.#teller.tellChanges(serverId);
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
      const watch = await this.#watchOf(server);
      const { items, ttlMs, warning, verdict, capabilities, instructions } =
        await watch.look(deadline);
      const text = toCatalogText({ items, ttlMs, capabilities, instructions });
      const hash = await catalogHash(text);
      if (rewrite || hash !== server.catalogHash) {
        await putCatalogText(this.env.CATALOG, server.id, hash, text);
      }
      if (hash !== server.catalogHash) await this.#teller.note(items);
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
