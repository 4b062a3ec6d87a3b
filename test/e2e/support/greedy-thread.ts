/**
 * A client that wants more than there is, in its own thread, with its own upstream, so that the cost of sending and answering so much is
 * not mistaken for delays by the gateway.
 */
import { parentPort } from 'node:worker_threads';
import { headersFor, type CallResult } from './raw-client.ts';
import { startScripted, type ScriptedCall } from './scripted-upstream.ts';

/** A number of equal calls to make at once. */
export interface Burst {
  gateway: string;
  token: string;
  tool: 'wait' | 'large';
  calls: number;
  /** Size of the response of `large`. */
  mib?: number;
  /** Additional content of the arguments. */
  fill?: 'text' | 'objects';
  /** How many of them must end before the waiting ones are answered. */
  endFirst?: number;
}

/** How one of the calls ended. */
export interface Told {
  status: number;
  retryAfter: string | null;
  /** Code of a JSON-RPC error, or the reason of a failed call. */
  why: unknown;
  length: number;
}

const MIB = 1_048_576;
const PIECE = Buffer.alloc(MIB / 4, 'x');
const FILLINGS = {
  text: () => `,"fill":"${'x'.repeat(4 * MIB - 300)}"`,
  objects: () => `,"fill":[${'{},'.repeat(1_300_000)}{}]`,
};

/** Ends the waiting calls. */
let release = () => {};
let released: Promise<void> = Promise.resolve();

async function answer({ id, name, arguments: given }: ScriptedCall) {
  if (name === 'wait') await released;
  const pieces = name === 'large' ? Number(given['mib']) * 4 : 0;
  const body = function* () {
    yield `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`;
    for (let piece = 0; piece < pieces; piece += 1) yield PIECE;
    yield '"}]}}';
  };
  return { body: body() };
}

async function call(url: string, token: string, body: Buffer<ArrayBuffer>): Promise<Told> {
  // One JSON response, because events would have to be parsed.
  const headers = headersFor({ url, token }, { accept: 'application/json' });
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  const { error, result } = JSON.parse(text) as { error?: { code: number }; result?: CallResult };
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    why: error?.code ?? result?._meta?.['portico/reason'],
    length: text.length,
  };
}

async function burst({ gateway, token, tool, calls, mib = 0, fill, endFirst = calls }: Burst) {
  released = new Promise(resolve => (release = resolve));
  const args = `{"mib":${mib}${fill ? FILLINGS[fill]() : ''}}`;
  const params = `{"name":"greedy.${tool}","arguments":${args}}`;
  const body = Buffer.from(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`,
  ) as Buffer<ArrayBuffer>;
  let ended = 0;
  const told = Array.from({ length: calls }, async () => {
    const one = await call(`${gateway}/mcp`, token, body);
    ended += 1;
    if (ended >= endFirst) release();
    return one;
  });
  return Promise.all(told);
}

const tools = ['wait', 'large'].map(name => ({ name, inputSchema: { type: 'object' } }));
const lists = { 'tools/list': { member: 'tools', items: tools } };
const { url } = await startScripted('legacy', lists, answer);
parentPort?.postMessage(url, []);
parentPort?.on('message', (wanted: Burst) => {
  void burst(wanted).then(
    told => parentPort?.postMessage(told, []),
    error => parentPort?.postMessage(String(error), []),
  );
});
