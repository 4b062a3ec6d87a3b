/**
 * Reads the lists that a server shows to an account, and stores which items of the shared catalog they lack. Lives in the object of a
 * principal at a server, so that one read runs at a time; no list and no call waits for it. A read that fails changes nothing, and is
 * retried after a pause that grows.
 */
import { createDeadline } from '../http/deadline.ts';
import { areListsDue, toOwnLists, type OwnServer } from '../servers/accounts/account-lists.ts';
import { keepOwnLists } from '../servers/accounts/account-lists-store.ts';
import {
  KIND_FACTS,
  KINDS,
  parseCatalog,
  type Catalog,
  type Kind,
} from '../servers/catalog/catalog.ts';
import { PLAIN_CLIENT, suited } from '../servers/catalog/conditions.ts';
import type { Server } from '../servers/registry/server-schema.ts';
import { isObject, type JsonObject } from '../shared/protocol.ts';
import type { WaitUntil } from '../shared/util/wait-until.ts';
import { discover, type Discovered } from './discovery/discover.ts';
import { openSession } from './discovery/side-discoveries.ts';
import type { UpstreamEndpoint, UpstreamEndpoints } from './endpoint.ts';
import { byOwnAccount } from './own-account.ts';
import { createHttpChannel } from './session/channel.ts';

export interface AccountListPorts {
  db: D1Database;
  endpoints: Pick<UpstreamEndpoints, 'of' | 'renewed' | 'want'>;
  /** Returns a server as the principal of this object reaches it. */
  findServer(serverId: string): Promise<Server | undefined>;
  /** Returns the text of a catalog; undefined if it is stored nowhere any more. */
  findText(serverId: string, hash: string): Promise<string | undefined>;
  /** Called when the principal sees something else now. */
  onChanged(): Promise<unknown>;
  waitUntil: WaitUntil;
  maxBytes: number;
}

/** Longest time of one read, in milliseconds. */
const READ_MS = 20_000;
/** Pause after a read, in milliseconds; it doubles with each failure in a row. */
const REST_MS = 2_000;
const MAX_REST_MS = 900_000;

export class AccountLists {
  readonly #ports: AccountListPorts;
  #reading: Promise<void> | undefined;
  #isRequestedAgain = false;
  /** The account and its revision that were last read, or failed to be. */
  #last = '';
  #failures = 0;
  #restUntil = 0;

  constructor(ports: AccountListPorts) {
    this.#ports = ports;
  }

  /** Reads the lists in the background, if they are due. */
  read(serverId: string): void {
    if (this.#reading) {
      this.#isRequestedAgain = true;
      return;
    }
    this.#reading = this.#readDue(serverId)
      .catch(() => {})
      .finally(() => {
        this.#reading = undefined;
        if (!this.#isRequestedAgain) return;
        this.#isRequestedAgain = false;
        this.read(serverId);
      });
    this.#ports.waitUntil(this.#reading);
  }

  async #readDue(serverId: string): Promise<void> {
    const due = await this.#findDue(serverId);
    const restMs = due && keyOfRead(due) === this.#last ? this.#restUntil - Date.now() : 0;
    if (restMs <= 0) return this.#readOf(due);
    if (this.#failures > 0) return;
    // The catalog has changed again so soon: wait before the next read. The client that asked gets the change on its stream.
    await scheduler.wait(restMs);
    return this.#readOf(await this.#findDue(serverId));
  }

  async #findDue(serverId: string): Promise<OwnServer | undefined> {
    const server = await this.#ports.findServer(serverId);
    return server && areListsDue(server, Date.now()) ? server : undefined;
  }

  async #readOf(server: OwnServer | undefined): Promise<void> {
    if (!server) return;
    const { catalogHash } = server;
    const key = keyOfRead(server);
    this.#failures = key === this.#last ? this.#failures : 0;
    this.#last = key;
    try {
      const text = await this.#ports.findText(server.id, catalogHash);
      if (text !== undefined) await this.#compare(server, parseCatalog(catalogHash, text));
      this.#failures = 0;
    } catch (thrown) {
      this.#failures += 1;
      throw thrown;
    } finally {
      const restMs = Math.min(REST_MS * 2 ** this.#failures, MAX_REST_MS);
      this.#restUntil = Date.now() + restMs;
    }
  }

  async #compare(server: OwnServer, shared: Catalog): Promise<void> {
    const { db, endpoints, waitUntil, maxBytes, onChanged } = this.#ports;
    const { account, catalogHash, verdict } = server;
    const plain = suited(shared, verdict.era, PLAIN_CLIENT);
    const endpoint = await endpoints.of(server);
    const found = await byOwnAccount(endpoints, server, endpoint, waitUntil, by =>
      listBy(by, server, plain, maxBytes),
    );
    const lists = toOwnLists(shared, plain, keysOf(found), account.lists);
    const kept = { lists, catalogHash, now: Date.now() };
    const isKept = await keepOwnLists(db, account, kept);
    const isChanged = JSON.stringify(lists) !== JSON.stringify(account.lists);
    if (isKept && isChanged) await onChanged();
  }
}

const keyOfRead = ({ account }: OwnServer): string => `${account.id} ${account.revision}`;

/** Reads the lists of those kinds of which the shared catalog has items, as a client without capabilities. */
async function listBy(
  endpoint: UpstreamEndpoint,
  { verdict }: OwnServer,
  plain: Catalog,
  maxBytes: number,
): Promise<Discovered> {
  const deadline = createDeadline(READ_MS);
  const { era, protocolVersion, transport } = verdict;
  const kinds = KINDS.filter(kind => plain[kind].items.length > 0);
  const offered = Object.fromEntries(kinds.map(kind => [KIND_FACTS[kind].capability, {}]));
  const { hidden } = endpoint;
  try {
    if (era === 'modern') {
      const channel = createHttpChannel(endpoint, { era, protocolVersion }, maxBytes);
      return await discover({ channel, deadline, hidden }, offered);
    }
    const session = await openSession(endpoint, transport, {}, deadline, maxBytes);
    try {
      return await discover({ channel: session.channel, deadline, hidden }, offered);
    } finally {
      session.end();
    }
  } finally {
    deadline.release();
  }
}

/** Returns the keys of listed items, by kind; leaves out lists that failed. */
function keysOf({ items, failed }: Discovered): Partial<Record<Kind, ReadonlySet<string>>> {
  const read = KINDS.filter(kind => !failed.some(list => list.kind === kind));
  return Object.fromEntries(
    read.map(kind => [kind, new Set(items[kind].map(text => keyOf(kind, text)))]),
  );
}

function keyOf(kind: Kind, text: string): string {
  const item: unknown = JSON.parse(text);
  return isObject(item) ? String((item as JsonObject)[KIND_FACTS[kind].key]) : '';
}
