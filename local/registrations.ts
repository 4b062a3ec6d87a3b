/**
 * Registers servers at the start, each as one step on the terminal: the demo servers, and those of an mcp.json. A server that cannot be
 * registered or does not connect is reported in one line; it never stops the start.
 */
import type { Api } from './api.ts';
import type { ServerConfig } from './config-file.ts';
import type { Demo } from './demo.ts';
import { StartError, toLine } from './start-error.ts';
import type { Steps } from './steps.ts';

/** Time that a server has to connect before the start continues without it, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/** A server to register, and its label on the terminal. */
interface Registration {
  label: string;
  /** Creates the record or finds it; returns its id. */
  register: () => Promise<{ id: string }>;
}

/** Registers the demo servers. They are running, so an ERROR from an earlier start is waited out. */
export function registerDemo(demo: Demo, api: Api, steps: Steps): Promise<void> {
  const registrations = demo.servers.map(server => ({
    label: `${server.name} (${server.title})`,
    register: () => demo.register(server, api),
  }));
  return connectAll(registrations, ['CONNECTED'], api, steps);
}

/** Registers the servers of an mcp.json. Existing servers are kept, and entries that are left out are reported. */
export async function registerConfigured(
  { servers, skipped }: ServerConfig,
  api: Api,
  steps: Steps,
): Promise<void> {
  const existing = new Map((await api.listServers()).map(server => [server.name, server]));
  const registrations = servers.map(({ name, transportType, url, headers }) => ({
    label: name,
    register: async () =>
      existing.get(name) ??
      api.createServer({
        name,
        transport_type: transportType,
        connection_config: { url, headers },
      }),
  }));
  await connectAll(registrations, ['CONNECTED', 'ERROR'], api, steps);
  for (const { name, reason } of skipped) steps.warn(`${name} is left out: it ${reason}`);
}

/** Registers servers concurrently and reports the outcomes in order; `settled` are the states to wait for. */
async function connectAll(
  registrations: readonly Registration[],
  settled: readonly string[],
  api: Api,
  steps: Steps,
): Promise<void> {
  const outcomes = registrations.map(({ label, register }) => {
    const outcome = connect(label, register, settled, api);
    // A failure before its turn is still reported below.
    outcome.catch(() => undefined);
    return { label, outcome };
  });
  for (const { label, outcome } of outcomes) {
    try {
      await steps.run(
        `connecting ${label}`,
        () => outcome,
        toolCount => `${label}: ${toolCount} tools`,
      );
    } catch (error) {
      steps.warn(toLine(error));
    }
  }
}

/** Registers a server and waits for its tools. Returns their number, or throws the line to report. */
async function connect(
  label: string,
  register: Registration['register'],
  settled: readonly string[],
  api: Api,
): Promise<number> {
  const { id } = await register().catch((error: unknown) => {
    throw new StartError(`${label} is not registered: ${toLine(error)}`);
  });
  const server = await api.waitForServer(id, settled, CONNECT_TIMEOUT_MS);
  if (server.status === 'CONNECTED') return server.tool_count;
  throw new StartError(
    `${label} is registered, but ${server.status}${server.last_error ? `: ${server.last_error}` : ''}`,
  );
}
