/**
 * ServerMonitor: one object per server, driven by its alarm. Negotiates, discovers, writes catalog, row and access token, watches changes.
 * Invariants: it alone writes these; a catalog is in KV before a row names it; check cycles never overlap; a deleted server leaves nothing.
 */
import { DurableObject } from 'cloudflare:workers';
import { expectEventsOf } from './events-of.ts';
import { createUpstreamEndpoints } from './upstream-endpoints.ts';
import { configOf } from '../config.ts';
import type { CallReport } from '../servers/health/call-report.ts';
import { PendingCalls } from '../gateway/health/draining.ts';
import { MonitorHealth, type History } from '../servers/health/monitor-health.ts';
import { modelsOf } from '../models/create-models.ts';
import { MonitoredServers } from '../servers/accounts/reached-servers.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { ToolApprover } from '../monitor/approve-tools.ts';
import { isOffered } from '../servers/registry/status.ts';
import { createEmbeddingSource } from '../search/text/embedding-asset.ts';
import type { WatchFailure } from '../shared/events.ts';
import { createAccessTokenRecords } from '../credentials/oauth/access-token-store.ts';
import { AccessTokens } from '../credentials/oauth/access-tokens.ts';
import type { AccessTokenReply } from '../credentials/oauth/grant-schema.ts';
import { createKeyRing } from '../shared/crypto/key-ring.ts';
import { ClientCredentials } from '../credentials/oauth/client-credentials.ts';
import { createDeadline } from '../http/deadline.ts';
import { getHealthUrl } from '../upstream/discovery/health-check.ts';
import { createAfterCycle } from '../monitor/after-cycle.ts';
import { CallEvents } from '../monitor/call-events.ts';
import { createCatalogStorage, deleteCatalogs } from '../monitor/catalog-kv.ts';
import { createCatalogWriter } from '../monitor/indexed-catalogs.ts';
import { MonitorClock } from '../monitor/monitor-clock.ts';
import { WakePace } from '../monitor/monitor-schedule.ts';
import { ResourceSubscriptions } from '../monitor/resource-subscriptions.ts';
import { CheckCycle, type Task } from '../monitor/check-cycle.ts';
import { ServerWatch } from '../monitor/server-watch.ts';
import { Subscribers } from '../monitor/subscribers.ts';
import { ChangeNotifier } from '../monitor/change-notifier.ts';
import { logFailure } from '../telemetry/failure-line.ts';

/** The monitor checks for an announced change after this time, in milliseconds. */
const EXPECT_MS = 3_000;
/** Clients are notified this long after the last old list is gone, in milliseconds. */
const NOTIFY_MARGIN_MS = 50;

export class ServerMonitor extends DurableObject<Env> {
  readonly #config = configOf(this.env);
  readonly #servers = new MonitoredServers(this.env.DB);
  readonly #keys = createKeyRing(this.env.PORTICO_KEYS);
  readonly #tokens = new AccessTokens({
    records: createAccessTokenRecords(this.env.DB),
    keys: this.#keys,
    grants: new ClientCredentials(this.#config.allowsLoopback),
  });
  readonly #endpoints = createUpstreamEndpoints(
    this.env.CONNECTOR,
    this.#keys,
    this.#config,
    this.#tokens,
    this.env.CLIENT_SESSION,
  );
  readonly #notifier = new ChangeNotifier({
    storage: this.ctx.storage,
    db: this.env.DB,
    objects: this.env.CLIENT_SESSION,
    settleMs: this.#config.listMaxAgeMs + NOTIFY_MARGIN_MS,
    wake: at => this.#clock.want({ wakeAt: at }),
  });
  readonly #subscribers = new Subscribers(this.ctx.storage);
  readonly #clock = new MonitorClock(this.ctx.storage);
  readonly #health = new MonitorHealth(this.ctx.storage, this.#config);
  readonly #calls = new PendingCalls(this.ctx, this.#config.drainMs);
  readonly #serverWatch = this.#createWatch();
  readonly #watch = this.#serverWatch.held;
  readonly #listeners = new ResourceSubscriptions({
    subscribers: this.#subscribers,
    watch: this.#watch,
    notifier: this.#notifier,
    createDeadline,
    waitUntil: work => this.ctx.waitUntil(work),
  });
  readonly #stored = createCatalogStorage(this.env.CATALOG);
  readonly #embedding = createEmbeddingSource(this.env.ASSETS, ms => scheduler.wait(ms));
  readonly #checkCycle = this.#createCheckCycle();
  readonly #callEvents = new CallEvents(this.#health, this.#clock, this.#checkCycle);
  readonly #after = createAfterCycle({
    db: this.env.DB,
    storage: this.ctx.storage,
    parts: this.#stored,
    findCatalog: this.#stored.findText,
    assets: this.env.ASSETS,
    embedding: this.#embedding,
    models: modelsOf(this.env, this.#config.model, this.#keys),
    wake: at => this.#clock.want({ wakeAt: at }),
  });
  readonly #pace = new WakePace();
  #rebuilding: Promise<void> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #reading: Promise<unknown> = Promise.resolve();
  /** How often the server was disconnected or deleted. */
  #takenDown = 0;

  /** The server's row is about to change: sets an alarm to read it, should nobody report the change. */
  async expect(serverId: string, inMs = EXPECT_MS): Promise<void> {
    await this.#noteId(serverId);
    await this.#clock.want({ wakeAt: Date.now() + inMs });
  }

  /** Applies the server's row; of concurrent calls the last row decides. @returns how many calls run at a server now disconnected */
  async follow(serverId: string): Promise<number> {
    const server = await this.#obey(serverId);
    if (!server) return 0;
    if (server.status === 'DISCONNECTED') return this.#calls.count();
    this.#watch.current?.doubt();
    await this.#clock.want({ checkAt: Date.now(), discoverAt: Date.now() });
    return 0;
  }

  /** Applies the server's row and returns it. Reads run one after the other, so that the last one decides. */
  #obey(serverId: string): Promise<Server | undefined> {
    const result = this.#reading.then(async () => {
      const server = await this.#servers.find(serverId);
      await (server ? this.#noteRow(server) : this.#remove(serverId));
      return server;
    });
    this.#reading = result.catch(() => {});
    return result;
  }

  async #noteId(serverId: string): Promise<void> {
    const { storage } = this.ctx;
    if ((await storage.get('serverId')) !== serverId) await storage.put('serverId', serverId);
  }

  /** After a rename clients see new names; if the server is no longer offered, they see nothing of it. */
  async #noteRow(server: Server): Promise<void> {
    const { id, name, status } = server;
    await this.#noteId(id);
    if (status === 'DISCONNECTED') await this.#rest(server);
    else await this.#calls.keep();
    this.#notifier.noteName(name);
    if (!isOffered(status)) this.#notifier.noteGone();
    this.ctx.waitUntil(this.#notifier.notifyChanges(id));
  }

  /** Schedules a discovery: the server announced a change or contradicts its negotiated protocol. A failing server keeps its schedule. */
  async wake(): Promise<void> {
    if ((await this.ctx.storage.get('serverId')) === undefined) return;
    if (await this.#health.isFailing()) return;
    this.#watch.current?.doubt();
    await this.#clock.want({ discoverAt: this.#pace.next(Date.now()) });
  }

  /** The server is disconnected: stops all requests to it and drains its calls. */
  async #rest({ disconnectedAt }: Server): Promise<void> {
    this.#watch.drop();
    await this.#after.stop();
    await this.#clock.clear();
    if (await this.#calls.drain(disconnectedAt ?? 0)) this.#takenDown += 1;
  }

  /** The server was deleted: removes everything stored about it. Its id goes last, so that the alarm repeats what failed. */
  async #remove(serverId: string): Promise<void> {
    this.#takenDown += 1;
    this.#watch.drop();
    await this.#after.stop();
    const notifyRemoved = await this.#notifier.prepareRemoval(serverId);
    await this.#calls.drain(Date.now());
    await deleteCatalogs(this.env.CATALOG, serverId);
    await this.#clock.clear();
    await this.ctx.storage.deleteAll();
    this.#health.forget();
    this.#subscribers.forget();
    this.ctx.waitUntil(notifyRemoved());
  }

  /** Subscribes an object to a resource. @returns the failure, if the server refuses */
  async subscribe(owner: string, uri: string): Promise<WatchFailure | undefined> {
    const serverId = await this.ctx.storage.get<string>('serverId');
    const server = serverId === undefined ? undefined : await this.#servers.find(serverId);
    return this.#listeners.subscribe(server, owner, uri);
  }

  /** Ends an object's subscription to a resource. */
  unsubscribe(owner: string, uri: string): Promise<void> {
    return this.#listeners.unsubscribe(owner, uri);
  }

  /** Returns an access token for a server that is reached with client credentials. */
  async accessToken(serverId: string): Promise<AccessTokenReply> {
    const server = await this.#servers.find(serverId);
    return server ? this.#tokens.answer(server) : { failure: 'The server is gone' };
  }

  /** The server refused an access token. */
  async refuseAccessToken(serverId: string, serial: number): Promise<void> {
    const server = await this.#servers.find(serverId);
    if (server) await this.#tokens.refuse(server, serial);
  }

  #createCheckCycle(): CheckCycle {
    const { allowsLoopback, health, discovery, toolApproval } = this.#config;
    const [{ storage }, { DB: db }, expectEvents] = [this.ctx, this.env, expectEventsOf(this.env)];
    return new CheckCycle({
      db,
      expectEvents,
      health: this.#health,
      approvals: new ToolApprover({ storage, db, toolApproval, expectEvents }),
      catalogs: createCatalogWriter(storage, this.#stored, this.#embedding),
      notifier: this.#notifier,
      watchOf: server => this.#watch.of(server),
      lacksStream: () => this.#serverWatch.lacksStream(),
      discoverWithinMs: () => this.#serverWatch.discoverWithinMs(),
      dropWatch: (server, error) => this.#serverWatch.fail(server, error),
      getHealthUrl: async (server, url, deadline) =>
        getHealthUrl(await this.#endpoints.of(server), url, allowsLoopback, deadline),
      createDeadline,
      defaults: health,
      discovery,
    });
  }

  #createWatch(): ServerWatch {
    return new ServerWatch({
      endpoints: this.#endpoints,
      waitUntil: work => this.ctx.waitUntil(work),
      maxBytes: this.#config.maxAnswerBytes,
      isHeld: this.#config.holdsChangeStreams,
      storage: this.ctx.storage,
      db: this.env.DB,
      uris: () => this.#subscribers.uris(),
      onRefused: server => this.#servers.refuse(server),
      onEvent: () => this.ctx.waitUntil(this.wake()),
      onUpdated: (id, uri, params) => this.ctx.waitUntil(this.#listeners.updated(id, uri, params)),
    });
  }

  /** Rebuilds a catalog that KV no longer has: discovers the server, once for all that wait, and returns the text. */
  async rebuild(hash: string): Promise<string | undefined> {
    const id = await this.ctx.storage.get<string>('serverId');
    if (id === undefined) return undefined;
    const due = { check: false, discover: true, rewrite: true, at: Date.now() };
    await (this.#rebuilding ??= this.#cycle(id, due).finally(() => (this.#rebuilding = undefined)));
    this.ctx.waitUntil(this.#notifier.notifyChanges(id));
    return this.#stored.findText(id, hash);
  }

  /** Takes an isolate's report of the server's calls. @returns whether the report opened or closed the circuit */
  async report(report: CallReport): Promise<boolean> {
    const id = await this.ctx.storage.get<string>('serverId');
    return id !== undefined && this.#callEvents.handle(id, report);
  }

  /** Calls of the server are refused because its circuit is open: schedules a trial. */
  want(generation: number): Promise<void> {
    return this.#callEvents.want(generation);
  }

  /** Returns the server's health history. @param before id of a check; only earlier checks are returned */
  history(before: number | undefined, limit: number): History {
    return this.#health.history(before, limit, Date.now());
  }

  /** Accepts the socket of a long call (`gateway/health/draining.ts`). */
  override async fetch(): Promise<Response> {
    return this.#calls.accept((await this.ctx.storage.get('serverId')) === undefined);
  }

  override async alarm(info?: AlarmInvocationInfo): Promise<void> {
    const id = await this.ctx.storage.get<string>('serverId');
    if (id === undefined || (await this.#clock.putsOff(info?.scheduledTime))) return;
    const due = await this.#clock.take(Date.now());
    const done = this.#cycle(id, due).then(() => this.#notifier.notifyChanges(id));
    await done.catch(async thrown => {
      // The platform repeats a failed alarm, but the tasks of this one were taken.
      await this.#clock.putBack(due);
      await logFailure(this.env.LINES, this.#config, 'check', due.at, thrown, this.#notifier.name);
    });
  }

  /** Runs check cycles one after the other, so that none works with data that another changes. Clients are notified after it. */
  #cycle(serverId: string, task: Task): Promise<void> {
    const result = this.#turn.then(() => this.#runCycle(serverId, task));
    this.#turn = result.catch(() => {});
    return result;
  }

  async #runCycle(serverId: string, task: Task): Promise<void> {
    const server = await this.#obey(serverId);
    if (!server || server.status === 'DISCONNECTED') return;
    const takenDown = this.#takenDown;
    const wanted = await this.#checkCycle.run(server, task);
    // If the server was disconnected or deleted meanwhile, `#obey` also removes what this cycle opened and wrote.
    const after = takenDown === this.#takenDown ? server : await this.#obey(serverId);
    if (!after || after.status === 'DISCONNECTED') return;
    this.#pace.ended(Date.now());
    await this.#clock.settle(wanted);
    await this.#clock.want({ discoverAt: this.#tokens.dueAt ?? Infinity });
    await this.#serverWatch.rest();
    this.ctx.waitUntil(this.#after.follow(server));
  }
}
