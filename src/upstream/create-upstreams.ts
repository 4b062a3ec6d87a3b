/** Creates the client for the servers behind the gateway, as the requests of an isolate use it. */
import { Upstreams, type ObjectPort, type SessionPort } from './upstream-client.ts';
import type { UpstreamEndpoints } from './endpoint.ts';

export interface UpstreamDeps {
  endpoints: UpstreamEndpoints;
  sessions: SessionPort & { call: ObjectPort };
  config: { callTimeoutMs: number; questionTimeoutMs: number; maxAnswerBytes: number };
  /** The objects that monitor the servers. */
  monitors: { wake(serverId: string): Promise<unknown> };
  now(): number;
}

/** Shortest time between two wakes of a server's monitor on suspicion of this isolate, in milliseconds. */
const SUSPECT_GAP_MS = 2_000;

/** @returns the function that sends a request to a server */
export function createUpstreams({ endpoints, sessions, config, monitors, now }: UpstreamDeps) {
  const suspected = new Map<string, number>();
  const { callTimeoutMs, questionTimeoutMs, maxAnswerBytes } = config;
  const upstreams = new Upstreams({
    endpoints,
    sessions,
    throughObject: (call, context, here) => sessions.call(call, context, here),
    callTimeoutMs,
    questionTimeoutMs,
    maxAnswerBytes,
    async requestRecheck(serverId) {
      const at = now();
      if (at - (suspected.get(serverId) ?? 0) < SUSPECT_GAP_MS) return;
      suspected.set(serverId, at);
      await monitors.wake(serverId);
    },
  });
  return upstreams.call.bind(upstreams);
}
