/** The test stand for the documents' figures: a gateway used over REST, and upstreams that this process starts and ends. */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const UPSTREAM = fileURLToPath(new URL('../search-upstream.ts', import.meta.url));
const MOODY = fileURLToPath(new URL('../../test/fixtures/moody.ts', import.meta.url));
const MODEL = fileURLToPath(new URL('../../test/fixtures/scripted-model.ts', import.meta.url));
const SERVERS = '/aggregator/servers';
/** Longest wait for an expected state, in milliseconds. */
const PATIENCE_MS = 240_000;

/** A gateway with default settings. */
export interface GatewayAddress {
  origin: string;
  token: string;
}

export interface ServerView {
  id: string;
  name: string;
  status: string;
  tool_count: number;
}

export interface Check {
  at: string;
  finding: string;
  response_time_ms: number | null;
}

/** A process with generated servers; the path of each sets its number of tools. */
export interface MadeUp {
  port: number;
  child: ChildProcess;
}

/** Starts such a process; it ends with this one. @param port its former port, for a restart */
export async function startMadeUp(port = 0): Promise<MadeUp> {
  const child = fork(UPSTREAM, [String(port)], { stdio: 'inherit' });
  const [message] = (await once(child, 'message')) as { port: number }[];
  if (!message) throw new Error('the upstream did not start');
  return { port: message.port, child };
}

/** Starts a fixture, which prints its port on its first line. */
async function startFixture(file: string, ...args: string[]): Promise<MadeUp> {
  const options = { stdio: ['ignore', 'pipe', 'inherit'] as const };
  const child = spawn(process.execPath, [file, ...args], { stdio: [...options.stdio] });
  const [line = '{}'] = (await once(createInterface(child.stdout), 'line')) as string[];
  return { port: (JSON.parse(line) as { port: number }).port, child };
}

/** A server that accepts requests and can be switched to answer none. */
export const startMoody = (): Promise<MadeUp> => startFixture(MOODY);

/** A model that classifies tools without delay, and the settings for a gateway that uses it. */
export async function startModel(): Promise<MadeUp & { env: Record<string, string> }> {
  const key = 'key-of-the-model-of-the-bench';
  const started = await startFixture(MODEL, '--key', key);
  return { ...started, env: { PORTICO_MODEL: 'scripted-1', PORTICO_MODEL_KEY: key } };
}

/** Kills one, by its process id. */
export async function endUpstream({ child }: MadeUp): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

export class Stand {
  readonly #gateway: GatewayAddress;
  readonly #madeUp: MadeUp;
  /** URL of the moody server. */
  readonly moodyUrl: string;

  constructor(gateway: GatewayAddress, madeUp: MadeUp, moody: MadeUp) {
    this.#gateway = gateway;
    this.#madeUp = madeUp;
    this.moodyUrl = `http://127.0.0.1:${moody.port}`;
  }

  /** Sends a request to the REST API; returns the response, whatever its status. */
  async ask(path: string, body?: object): Promise<{ status: number; json: unknown }> {
    const response = await fetch(`${this.#gateway.origin}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${this.#gateway.token}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: await response.json() };
  }

  /** Registers a server; returns its id. @throws Error where it is refused */
  async register(name: string, url: string, health_check_url?: string): Promise<string> {
    const record = { name, transport_type: 'HTTP', connection_config: { url }, health_check_url };
    const { status, json } = await this.ask(SERVERS, record);
    if (status !== 201) throw new Error(`${name}: ${status} ${JSON.stringify(json)}`);
    return (json as ServerView).id;
  }

  /** The URL of a generated server. */
  urlOf(server: number, tools: number, { port }: MadeUp = this.#madeUp): string {
    return `http://127.0.0.1:${port}/${server}/${tools}`;
  }

  async server(id: string): Promise<ServerView> {
    return (await this.ask(`${SERVERS}/${id}`)).json as ServerView;
  }

  /** Its checks, the newest first. */
  async checks(id: string): Promise<readonly Check[]> {
    return ((await this.ask(`${SERVERS}/${id}/health`)).json as { checks: Check[] }).checks;
  }

  /** Polls until the probe returns a value. @throws Error after `PATIENCE_MS` */
  async until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const value = await probe();
      if (value !== undefined) return value;
      if (Date.now() > deadline) throw new Error(`not in time: ${what}`);
      await sleep(20);
    }
  }

  whenStatus(id: string, status: string): Promise<ServerView> {
    return this.until(`server ${id} is ${status}`, async () => {
      const server = await this.server(id);
      return server.status === status ? server : undefined;
    });
  }

  /** Finds a server by name. @throws Error where there is none */
  async named(wanted: string): Promise<ServerView> {
    const { json } = await this.ask(`${SERVERS}?name=${wanted}&limit=200`);
    const found = (json as { servers: ServerView[] }).servers.find(({ name }) => name === wanted);
    if (!found) throw new Error(`there is no server ${wanted}`);
    return found;
  }

  /** Returns the qualified name of a server's first tool. */
  async toolOf(server: string): Promise<string> {
    const { id } = await this.named(server);
    const listed = (await this.ask(`/tools?server=${id}`)).json as {
      servers: { tools: { name: string }[] }[];
    };
    return listed.servers.flatMap(({ tools }) => tools)[0]?.name ?? '';
  }

  /** Calls a tool by its qualified name; returns the response's status, and the code of an error. */
  async call(name: string): Promise<{ status: number; code?: string }> {
    const { status, json } = await this.ask('/tools/call', { name, arguments: {} });
    return { status, ...(json as { code?: string }) };
  }
}
