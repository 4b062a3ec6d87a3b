/**
 * `portico up --stdio` as a host starts it, with its own folder and a file of servers, and messages written by hand. Owns both, and their
 * end.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../fixtures/start-fixture.ts';
import { startHost, type Message } from './portico-command.ts';

const WAIT_MS = 60_000;

export interface UpHost {
  folder: string;
  /** Every line of its standard output. */
  lines: readonly string[];
  /** Its standard error. */
  errors(): string;
  initialized: Message;
  /** Sends a request and returns the response. */
  ask(method: string, params?: object): Promise<Message>;
  /** Waits for the first message that matches. */
  message(fits: (message: Message) => boolean): Promise<Message>;
  answer(id: unknown, result: object): void;
  /** Writes lines unchanged. */
  send(...lines: string[]): void;
  /** Waits until tools of these names are listed. */
  offers(...names: string[]): Promise<{ name: string }[]>;
  /** Replaces the file of servers. */
  configure(config: object): Promise<void>;
  /** Calls the REST API of the gateway behind it as its administrator. */
  api<T>(path: string): Promise<T>;
  end(): Promise<void>;
}

/**
 * @param configOf returns the file's content for the folder
 * @param given capabilities of the client, and additional words of the command
 */
export async function startUpHost(
  configOf: (folder: string) => object,
  given: { capabilities?: object; words?: readonly string[] } = {},
): Promise<UpHost> {
  const { capabilities = {}, words = [] } = given;
  const folder = await mkdtemp(join(tmpdir(), 'portico-documents-'));
  const [file, data] = [join(folder, 'mcp.json'), join(folder, 'data')];
  const configure = (config: object) => writeFile(file, JSON.stringify(config));
  await configure(configOf(folder));
  const args = ['up', '--config', file, '--data', data, '--stdio', ...words];
  const host = startHost(args, { HOME: folder });
  let last = 0;
  const ask = (method: string, params?: object) => {
    const id = (last += 1);
    host.send({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });
    return host.answer(id);
  };
  const initialized = await ask('initialize', {
    protocolVersion: '2024-11-05',
    capabilities,
    clientInfo: { name: 'claude-desktop', version: '1.0.0' },
  });
  host.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const read = (name: string) =>
    JSON.parse(readFileSync(join(data, name), 'utf8')) as Record<string, string>;
  return {
    folder,
    lines: host.lines,
    errors: host.errors,
    initialized,
    ask,
    message: host.message,
    send: host.send,
    answer: (id, result) => host.send({ jsonrpc: '2.0', id, result }),
    offers: (...names) =>
      until(`${names.join(', ')} offered`, WAIT_MS, async () => {
        const { result } = await ask('tools/list');
        const tools = result?.['tools'] as { name: string }[];
        const isWhole = names.every(wanted => tools.some(({ name }) => name === wanted));
        return isWhole ? tools : undefined;
      }),
    configure,
    async api<T>(path: string) {
      const origin = read('running.json')['origin'] ?? '';
      const headers = { authorization: `Bearer ${read('secrets.json')['adminToken']}` };
      return (await (await fetch(`${origin}/api/v1${path}`, { headers })).json()) as T;
    },
    async end() {
      await host.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
