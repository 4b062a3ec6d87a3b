/**
 * Registers servers at the start, one step each on the terminal: the demo servers, and those of an mcp.json.
 * A server that cannot be registered or does not connect is said in a line; it never stops the start.
 */
import type { Api } from './api.ts';
import type { ServerConfig } from './config-file.ts';
import type { Demo } from './demo.ts';
import { StartError, toLine } from './start-error.ts';
import type { Steps } from './steps.ts';

/** A server has this time to be connected before the start goes on without it. */
const CONNECT_TIMEOUT_MS = 10_000;

/** One server to register, and what to call it on the terminal. */
interface Registration {
  label: string;
  /** Make the record or find it; gives its id. */
  register: () => Promise<{ id: string }>;
}

/** Register the demo servers. They run, so a failure of the last time is waited out. */
export function registerDemo(demo: Demo, api: Api, steps: Steps): Promise<void> {
  const registrations = demo.servers.map(server => ({
    label: `${server.name} (${server.title})`,
    register: () => demo.register(server, api),
  }));
  return connectAll(registrations, ['CONNECTED'], api, steps);
}

/** Register the servers of an mcp.json; one that is there already is kept, and what was left out is said. */
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

/** Register servers side by side and say in their order what became of each; `settled` are the states to wait for. */
async function connectAll(
  registrations: readonly Registration[],
  settled: readonly string[],
  api: Api,
  steps: Steps,
): Promise<void> {
  const outcomes = registrations.map(({ label, register }) => {
    const outcome = connect(label, register, settled, api);
    // One that fails before its turn comes is still said below.
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

/** Register a server and wait for its tools; gives their number, or throws the line to say. */
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
