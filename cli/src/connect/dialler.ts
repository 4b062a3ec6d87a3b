/**
 * Keeps one connection to the gateway, as long as that makes sense: tells what this machine offers, dials, and when the
 * connection ends waits and does it again. What ran on a connection that broke is aborted and never sent twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, Failure } from '../failure.ts';
import { createBackoff } from './backoff.ts';
import type { ServerConfig } from './config.ts';
import { openConnection, type Connection, type Counts } from './connection.ts';
import { toFailure, toReason } from './ending.ts';
import { OddAnswer, tellServers, Unreachable, type Told } from './gateway-api.ts';
import type { HttpAdapter } from './stdio-http.ts';

/** How often it is said how much still runs at the end. */
const TELL_EVERY_MS = 500;

/** How the connection is, for those who look. */
export type LinkState =
  | { kind: 'dialling' }
  | { kind: 'connected'; connector: string }
  /** Dialled again after so many milliseconds. */
  | { kind: 'waiting'; reason: string; waitMs: number }
  | { kind: 'draining'; channels: number }
  | { kind: 'closed' };

export interface DiallerOptions {
  /** Of the gateway: scheme, host and port. */
  origin: string;
  token: string;
  agent: string;
  /** What this machine offers by now. */
  servers(): readonly ServerConfig[];
  /** By the names of the registry; may change. */
  adapters: ReadonlyMap<string, HttpAdapter>;
  keepaliveMs: number;
  /** Most time that running requests get when it is stopped. */
  drainMs: number;
  random: () => number;
  onLink(state: LinkState): void;
  /** What the registry made of what was offered; each time it was told. */
  onTold(told: Told): void;
}

export interface Dialler {
  /** Resolves after `stop`, when nothing runs any more; rejects with a Failure where it makes no sense to come back. */
  done: Promise<void>;
  /** Takes nothing new and lets what runs end. */
  stop(): void;
  /** The gateway should look at a server anew. */
  sendEvent(server: string): void;
  /** Tells the gateway what this machine offers by now, where it is connected. @throws Failure or Unreachable */
  refresh(): Promise<void>;
  /** Of the connection that is up. */
  counts(): Counts | undefined;
}

/** Dials, and goes on until it is stopped. */
export function startDialler(options: DiallerOptions): Dialler {
  const { onLink } = options;
  const stopping = new AbortController();
  let current: Connection | undefined;
  /** Of the connection that is up: what the registry took. */
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
        // A gateway that was right before is so again.
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
      if (current) fill((await tell(options, stopping.signal)).adapters);
    },
    counts: () => current?.counts(),
  };
}

/** Most often their names are taken, say by what a removed connector left behind. */
const ROOM = 'portico servers shows what is there, portico servers remove NAME makes room';

/** @returns the adapters of the servers that the registry took */
async function tell(
  { origin, token, servers, adapters, onTold }: DiallerOptions,
  signal: AbortSignal,
): Promise<{ connector: string; adapters: Map<string, HttpAdapter> }> {
  const offers = servers().map(toAdvertised);
  const told = await tellServers(origin, token, offers, signal);
  onTold(told);
  const taken = new Set(told.servers.filter(({ id }) => id !== null).map(({ name }) => name));
  const offered = new Map([...adapters].filter(([name]) => taken.has(name)));
  if (offered.size > 0 || offers.length === 0)
    return { connector: told.connector.name, adapters: offered };
  const problem = told.servers.find(server => server.problem)?.problem ?? 'it does not say why';
  throw new Failure(`the gateway took none of the servers: ${problem}; ${ROOM}`, EXIT.failed);
}

const toAdvertised = ({ name, description }: ServerConfig) => ({ name, description });
