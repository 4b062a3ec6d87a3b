/**
 * Keeps one connection to the gateway as long as that makes sense: sends the list of servers, dials, and when the connection ends waits and
 * starts again. Requests on a broken connection are aborted and never sent again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, Failure } from '../failure.ts';
import { createBackoff } from './backoff.ts';
import type { ServerConfig } from './config.ts';
import { openConnection, type Connection, type Counts } from './connection.ts';
import { toFailure, toReason } from './ending.ts';
import { OddAnswer, tellServers, Unreachable, type Told } from './gateway-api.ts';
import type { HttpAdapter } from './stdio-http.ts';

/** How often the number of running requests is reported while draining, in milliseconds. */
const TELL_EVERY_MS = 500;

/** State of the connection, for display. */
export type LinkState =
  | { kind: 'dialling' }
  | { kind: 'connected'; connector: string }
  /** Dials again after `waitMs` milliseconds. */
  | { kind: 'waiting'; reason: string; waitMs: number }
  | { kind: 'draining'; channels: number }
  | { kind: 'closed' };

export interface DiallerOptions {
  /** Origin of the gateway: scheme, host and port. */
  origin: string;
  token: string;
  agent: string;
  /** The servers that this machine offers now: another list after each edit. */
  servers(): readonly ServerConfig[];
  /** Adapters by registry name; may change. */
  adapters: ReadonlyMap<string, HttpAdapter>;
  keepaliveMs: number;
  /** Longest time for running requests after `stop`. */
  drainMs: number;
  random: () => number;
  onLink(state: LinkState): void;
  /** Called with the registry's response each time the servers were sent. */
  onTold(told: Told): void;
}

export interface Dialler {
  /** Resolves after `stop`, when nothing runs any more; rejects with a Failure where reconnecting makes no sense. */
  done: Promise<void>;
  /** Refuses new requests and lets running ones end. */
  stop(): void;
  /** Asks the gateway to discover a server again. */
  sendEvent(server: string): void;
  /** Sends the current list of servers to the gateway, if connected. @throws Failure or Unreachable */
  refresh(): Promise<void>;
  /** Traffic of the current connection. */
  counts(): Counts | undefined;
}

/** Dials, and reconnects until it is stopped. */
export function startDialler(options: DiallerOptions): Dialler {
  const { onLink } = options;
  const stopping = new AbortController();
  let current: Connection | undefined;
  /** Adapters of the current connection: those of servers that the registry accepted. */
  const live = new Map<string, HttpAdapter>();
  const fill = (adapters: ReadonlyMap<string, HttpAdapter>) => {
    live.clear();
    for (const [name, adapter] of adapters) live.set(name, adapter);
  };

  const once = async (): Promise<{ livedMs: number; reason: string }> => {
    onLink({ kind: 'dialling' });
    const { connector, adapters } = await tell(options, stopping.signal);
    fill(adapters);
    const connection = openConnection({
      ...options,
      adapters: live,
      url: new URL('/connect', options.origin.replace(/^http/, 'ws')),
      onWelcome: () => onLink({ kind: 'connected', connector }),
    });
    current = connection;
    const drain = async () => {
      const say = () => onLink({ kind: 'draining', channels: connection.counts().channels });
      say();
      const saying = setInterval(say, TELL_EVERY_MS);
      await connection.drain(options.drainMs);
      clearInterval(saying);
    };
    stopping.signal.addEventListener('abort', drain, { once: true });
    if (stopping.signal.aborted) void drain();
    const ending = await connection.ended;
    stopping.signal.removeEventListener('abort', drain);
    current = undefined;
    const failure = stopping.signal.aborted ? undefined : toFailure(ending);
    if (failure) throw failure;
    return { livedMs: ending.livedMs, reason: toReason(ending) };
  };

  const run = async (): Promise<void> => {
    const backoff = createBackoff(options.random);
    let wasUp = false;
    while (!stopping.signal.aborted) {
      const { livedMs, reason } = await once().catch((error: unknown) => {
        // After a connection that worked, an odd answer is treated as temporary.
        const isForNow = error instanceof Unreachable || (wasUp && error instanceof OddAnswer);
        if (!isForNow) throw error;
        return { livedMs: 0, reason: error.message };
      });
      if (stopping.signal.aborted) break;
      wasUp ||= livedMs > 0;
      const waitMs = backoff.next(livedMs);
      onLink({ kind: 'waiting', reason, waitMs });
      await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };

  return {
    done: run().finally(() => onLink({ kind: 'closed' })),
    stop: () => stopping.abort(),
    sendEvent: server => current?.sendEvent(server),
    refresh: async () => {
      if (!current) return;
      // The program of an accepted name is another one now, also where the gateway cannot be told.
      fill(new Map([...options.adapters].filter(([name]) => live.has(name))));
      fill((await tell(options, stopping.signal)).adapters);
    },
    counts: () => current?.counts(),
  };
}

/** The usual cause is that the names are taken, for example by servers of a removed connector. */
const ROOM = 'see portico servers; portico servers remove NAME frees a name';

/** Sends the list of servers, and again if it was edited meanwhile. @returns the adapters of the servers that the registry accepted */
async function tell(
  { origin, token, servers, adapters, onTold }: DiallerOptions,
  signal: AbortSignal,
): Promise<{ connector: string; adapters: Map<string, HttpAdapter> }> {
  let offers: readonly ServerConfig[];
  let told: Told;
  do {
    offers = servers();
    told = await tellServers(origin, token, offers.map(toAdvertised), signal);
    onTold(told);
  } while (servers() !== offers);
  const taken = new Set(told.servers.filter(({ id }) => id !== null).map(({ name }) => name));
  const offered = new Map([...adapters].filter(([name]) => taken.has(name)));
  // A program that is being restarted has no adapter yet; the edit adds it.
  if (taken.size > 0 || offers.length === 0)
    return { connector: told.connector.name, adapters: offered };
  const problem = told.servers.find(server => server.problem)?.problem ?? 'it gives no reason';
  throw new Failure(`the gateway accepted none of the servers: ${problem}; ${ROOM}`, EXIT.failed);
}

const toAdvertised = ({ name, description }: ServerConfig) => ({ name, description });
