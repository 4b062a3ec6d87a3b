/**
 * Runs `portico connect`: one adapter for each server, one dialler and one view, from the start until it is stopped. However it ends, no
 * program that it started is left.
 */
import { isDeepStrictEqual } from 'node:util';
import { IMPLEMENTATION } from '../../../src/shared/protocol.ts';
import type { ServerConfig } from './config.ts';
import { startDialler, type Dialler } from './dialler.ts';
import { Failure } from '../failure.ts';
import { Unreachable } from './gateway-api.ts';
import type { CreateAdapter, ServerAdapter, ServerState } from './server-adapter.ts';
import { StartQueue } from './start-queue.ts';
import type { View } from './view.ts';
import type { Row } from './view-text.ts';

const COUNT_EVERY_MS = 1000;

export interface RunOptions {
  origin: string;
  token: string;
  servers: readonly ServerConfig[];
  createAdapter: CreateAdapter;
  view: View;
  /** Whether traffic is shown. */
  isVerbose: boolean;
  keepaliveMs: number;
  drainMs: number;
}

export interface Run {
  /** Resolves when everything has ended after `stop`; rejects with a Failure. */
  done: Promise<void>;
  /**
   * Replaces the list of servers: starts new ones, restarts changed ones, ends removed ones. Unchanged ones keep running.
   * @returns what was done, in words, and why the gateway refused the list or was not told, in which case the next connection sends it again
   */
  update(servers: readonly ServerConfig[]): Promise<string>;
  /** Lets running requests end, then ends the run. */
  stop(): void;
  /** Ends all programs at once without waiting. */
  kill(): void;
  /** State of a server, by its name on this machine. A server that failed counts as failed through its restarts, until it is ready. */
  stateOf(name: string): ServerState | undefined;
  /** Name of a server in the registry, where somebody may have renamed it. */
  nameOf(name: string): string;
}

/** Starts the servers and the dialler. */
export function startRun(options: RunOptions): Run {
  const { createAdapter, view } = options;
  let { servers } = options;
  const rows = new Map<string, Row>();
  const adapters = new Map<string, ServerAdapter>();
  const failed = new Set<string>();
  const starts = new StartQueue();
  let dialler: Dialler | undefined;
  let isEnding = false;

  const show = (name: string, change: Partial<Row>) => {
    const known = rows.get(name) ?? {
      name,
      state: 'starting',
      reason: '',
      problem: undefined,
      alias: undefined,
    };
    const row = { ...known, ...change };
    rows.set(name, row);
    view.row(row);
  };
  const open = (server: ServerConfig) => {
    failed.delete(server.name);
    show(server.name, { state: 'starting', reason: '' });
    const hasEvents = createEventFilter(Date.now);
    const onChange = (state: ServerState, reason = '') => {
      if (isEnding && state !== 'stopped') return;
      if (state === 'failed') failed.add(server.name);
      if (state === 'ready') failed.delete(server.name);
      show(server.name, { state, reason });
      if (hasEvents(state)) dialler?.sendEvent(server.name);
    };
    const onEvent = () => dialler?.sendEvent(server.name);
    adapters.set(server.name, createAdapter(server, onChange, starts, onEvent));
  };
  servers.forEach(open);
  const counting = setInterval(() => view.counts(dialler?.counts()), COUNT_EVERY_MS);
  if (!options.isVerbose) clearInterval(counting);

  const started = startDialler({
    ...options,
    servers: () => servers,
    adapters,
    agent: `${IMPLEMENTATION.name}-cli/${IMPLEMENTATION.version}`,
    random: Math.random,
    onLink: state => view.link(state),
    onTold(told) {
      for (const { name, id, problem, registered_as: as } of told.servers) {
        const why = problem ?? 'the gateway gives no reason';
        const alias = as === name ? undefined : (as ?? undefined);
        show(name, { problem: id === null ? why : undefined, alias });
      }
    },
  });
  dialler = started;

  const update = async (next: readonly ServerConfig[]): Promise<string> => {
    if (isEnding) return 'nothing';
    const change = compare(servers, next);
    servers = next;
    const ending = [...change.gone, ...change.changed].map(({ name }) => {
      const adapter = adapters.get(name);
      adapters.delete(name);
      return adapter?.stop();
    });
    await Promise.all(ending);
    if (isEnding) return 'nothing';
    for (const { name } of change.gone) {
      show(name, { state: 'stopped', reason: 'no longer in the file' });
    }
    [...change.added, ...change.changed].forEach(open);
    const problem = await started.refresh().catch(toProblem);
    // Have the gateway discover new and changed servers.
    for (const { name } of [...change.added, ...change.changed]) started.sendEvent(name);
    return toWords(change) + (problem ?? '');
  };

  const finish = async () => {
    isEnding = true;
    clearInterval(counting);
    await Promise.all([...adapters.values()].map(adapter => adapter.stop()));
    view.close();
  };
  return {
    done: started.done.finally(finish),
    update,
    stop: () => started.stop(),
    kill: () => adapters.forEach(adapter => adapter.kill()),
    stateOf: name => (failed.has(name) ? 'failed' : rows.get(name)?.state),
    nameOf: name => rows.get(name)?.alias ?? name,
  };
}

interface Change {
  added: ServerConfig[];
  changed: ServerConfig[];
  gone: ServerConfig[];
}

function compare(before: readonly ServerConfig[], next: readonly ServerConfig[]): Change {
  const known = new Map(before.map(server => [server.name, server]));
  const names = new Set(next.map(({ name }) => name));
  return {
    added: next.filter(({ name }) => !known.has(name)),
    changed: next.filter(server => {
      const former = known.get(server.name);
      return former !== undefined && !isDeepStrictEqual(former, server);
    }),
    gone: before.filter(({ name }) => !names.has(name)),
  };
}

function toWords(change: Change): string {
  const verbs = { added: 'started', changed: 'restarted', gone: 'stopped' } as const;
  const parts = (['added', 'changed', 'gone'] as const)
    .filter(kind => change[kind].length > 0)
    .map(kind => `${verbs[kind]} ${change[kind].map(({ name }) => name).join(', ')}`);
  return parts.join('; ') || 'no program changed';
}

/** The programs follow the file all the same. @throws any other error */
function toProblem(error: unknown): string {
  if (error instanceof Failure) return `; but ${error.message}`;
  if (!(error instanceof Unreachable)) throw error;
  return `; the gateway was not told (${error.message}), the next connection tells it`;
}

/** A request of the gateway waits at least this long for a starting server, in milliseconds. */
const ASKED_MS = 10_000;

/**
 * Decides whether the gateway should discover a server again: it came back, or it ended. Its first start is no reason, since the gateway's
 * request waits for it; but it is one if the start failed before or took so long that the request was already answered.
 */
function createEventFilter(now: () => number): (state: ServerState) => boolean {
  const startedAt = now();
  let hadAnswer = false;
  let isUp = false;
  return state => {
    const isLate = hadAnswer || now() - startedAt > ASKED_MS;
    const hasEvents = state === 'ready' ? isLate : state === 'failed' && isUp;
    if (state === 'ready' || state === 'failed') hadAnswer = true;
    if (state === 'ready') isUp = true;
    if (state === 'failed') isUp = false;
    return hasEvents;
  };
}
