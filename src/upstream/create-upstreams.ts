/** Creates the client for the servers behind the gateway, as the requests of an isolate use it. */
import { pacedWakes } from './server-messages.ts';
import { Upstreams, type ObjectPort, type SessionPort } from './upstream-client.ts';
import type { UpstreamEndpoints } from './endpoint.ts';

export interface UpstreamDeps {
  endpoints: UpstreamEndpoints;
  sessions: SessionPort & { call: ObjectPort };
  config: { callTimeoutMs: number; questionTimeoutMs: number; maxAnswerBytes: number };
  /** The objects that monitor the servers. */
  monitors: { wake(serverId: string): Promise<unknown> };
  wait(ms: number): Promise<unknown>;
  now(): number;
}

/** Shortest time between two wakes of a server's monitor on suspicion of this isolate, in milliseconds. */
const SUSPECT_GAP_MS = 2_000;

/** @returns the function that sends a request to a server */
export function createUpstreams({ endpoints, sessions, config, monitors, ...deps }: UpstreamDeps) {
  const { callTimeoutMs, questionTimeoutMs, maxAnswerBytes } = config;
  const upstreams = new Upstreams({
    endpoints,
    sessions,
    throughObject: (call, context, here) => sessions.call(call, context, here),
    callTimeoutMs,
    questionTimeoutMs,
    maxAnswerBytes,
    requestRecheck: pacedWakes(id => monitors.wake(id), SUSPECT_GAP_MS, deps.wait, deps.now),
  });
  return upstreams.call.bind(upstreams);
}
