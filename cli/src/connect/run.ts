/**
 * `portico connect` at work: one face for each server, one dialler, one view, from the start until it is stopped. However it
 * ends, no program that it started is left.
 */
import { IMPLEMENTATION } from '../../../src/protocol.ts';
import type { ServerConfig } from './config.ts';
import { startDialler, type Dialler } from './dialler.ts';
import type { CreateFace, ServerFace, ServerState } from './server-face.ts';
import type { View } from './view.ts';
import type { Row } from './view-text.ts';

const COUNT_EVERY_MS = 1000;

export interface RunOptions {
  origin: string;
  token: string;
  servers: readonly ServerConfig[];
  createFace: CreateFace;
  view: View;
  /** Whether traffic is shown. */
  isVerbose: boolean;
  keepaliveMs: number;
  drainMs: number;
}

export interface Run {
  /** Resolves when all has ended after `stop`; rejects with a Failure. */
  done: Promise<void>;
  /** Lets what runs end. */
  stop(): void;
  /** Ends all programs at once and waits for nothing. */
  kill(): void;
}

/** Starts. */
export function startRun(options: RunOptions): Run {
  const { servers, createFace, view } = options;
  const rows = new Map<string, Row>();
  const faces = new Map<string, ServerFace>();
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
  for (const server of servers) {
    show(server.name, {});
    const hasNews = createNewsFilter();
    const onChange = (state: ServerState, reason = '') => {
      if (isEnding && state !== 'stopped') return;
      show(server.name, { state, reason });
      if (hasNews(state)) dialler?.sendNews(server.name);
    };
    faces.set(server.name, createFace(server, onChange));
  }
  const counting = setInterval(() => view.counts(dialler?.counts()), COUNT_EVERY_MS);
  if (!options.isVerbose) clearInterval(counting);

  const started = startDialler({
    ...options,
    faces,
    agent: `${IMPLEMENTATION.name}-cli/${IMPLEMENTATION.version}`,
    random: Math.random,
    onLink: state => view.link(state),
    onTold(told) {
      for (const { name, id, problem, registered_as: as } of told.servers) {
        const why = problem ?? 'the gateway does not say why';
        const alias = as === name ? undefined : (as ?? undefined);
        show(name, { problem: id === null ? why : undefined, alias });
      }
    },
  });
  dialler = started;

  const finish = async () => {
    isEnding = true;
    clearInterval(counting);
    await Promise.all([...faces.values()].map(face => face.stop()));
    view.close();
  };
  return {
    done: started.done.finally(finish),
    stop: () => started.stop(),
    kill: () => faces.forEach(face => face.kill()),
  };
}

/**
 * Whether the gateway should look anew: a server came back, or is gone. Its first start is no news, since the gateway asks
 * for it.
 */
function createNewsFilter(): (state: ServerState) => boolean {
  let wasUp = false;
  let isUp = false;
  return state => {
    const hasNews = state === 'ready' ? wasUp : state === 'failed' && isUp;
    if (state === 'ready') wasUp = isUp = true;
    if (state === 'failed') isUp = false;
    return hasNews;
  };
}
