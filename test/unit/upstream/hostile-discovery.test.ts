/**
 * Discovery of a server with hostile answers: it ends, with a catalog of valid items or with a reason, and never with an unexpected error.
 */
import { afterEach, expect, it, vi } from 'vitest';
import { KINDS } from '../../../src/servers/catalog/catalog.ts';
import { PorticoError } from '../../../src/shared/errors/portico-error.ts';
import { ToolSchema } from '../../../src/shared/protocol.ts';
import { createDeadline } from '../../../src/http/deadline.ts';
import { endpoint } from './a-destination.ts';
import { discover } from '../../../src/upstream/discovery/discover.ts';
import { SessionForgotten } from '../../../src/upstream/exchange.ts';
import { negotiate } from '../../../src/upstream/discovery/negotiate.ts';
import { bytesOf, loadCorpus } from '../../fixtures/corpora.ts';

const json = loadCorpus('json-parsing');
const protocol = loadCorpus('protocol-fuzz');
const naughty = loadCorpus('naughty-strings');
const bodies = [
  ...json.cases.map(each => ({ name: each.name, bytes: bytesOf(each) })),
  ...protocol.cases.map(each => ({ name: each.name, bytes: bytesOf(each) })),
  ...naughty.cases.map(text => ({ name: text, bytes: Buffer.from(JSON.stringify(text)) })),
];
const origin = [json, protocol, naughty].map(corpus => corpus.origin).join('; ');

/** The body of a response; undefined for a correct answer. */
type Answer = (method: string, id: unknown, bytes: Buffer) => Buffer | undefined;

const join = (...parts: (string | Buffer)[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)));
const inTools = (id: unknown, bytes: Buffer, open: string, close: string) =>
  join(`{"jsonrpc":"2.0","id":${String(id)},"result":{"tools":${open}`, bytes, `${close}}}`);

const WAYS: Record<string, Answer> = {
  'the whole of every answer': (_method, _id, bytes) => bytes,
  'the whole of a list': (method, _id, bytes) => (method === 'tools/list' ? bytes : undefined),
  'the tools of a list': (method, id, bytes) =>
    method === 'tools/list' ? inTools(id, bytes, '', '') : undefined,
  'a tool of a list': (method, id, bytes) =>
    method === 'tools/list' ? inTools(id, bytes, '[', ']') : undefined,
  'the schema of a tool': (method, id, bytes) =>
    method === 'tools/list' ? inTools(id, bytes, '[{"name":"a","inputSchema":', '}]') : undefined,
  'the next cursor': (method, id, bytes) =>
    method === 'tools/list' ? inTools(id, bytes, '[],"nextCursor":', '') : undefined,
  'the time to live': (method, id, bytes) =>
    method === 'tools/list' ? inTools(id, bytes, '[],"ttlMs":', '') : undefined,
};

const byTheBook = (id: unknown) => ({
  jsonrpc: '2.0',
  id,
  result: {
    resultType: 'complete',
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    tools: [],
  },
});

/** Answers as a server on the network with these bodies. */
function serve(answer: Answer, bytes: Buffer, asStream: boolean): void {
  vi.spyOn(globalThis, 'fetch').mockImplementation((_input, init) => {
    const text = typeof init?.body === 'string' ? init.body : '{}';
    const { id, method = '' } = JSON.parse(text) as { id?: unknown; method?: string };
    if (id === undefined) return Promise.resolve(new Response(null, { status: 405 }));
    const body = answer(method, id, bytes) ?? Buffer.from(JSON.stringify(byTheBook(id)));
    const event = join(
      'data: ',
      body.toString('utf8').replaceAll(/\r\n?|\n/gu, '\ndata: '),
      '\n\n',
    );
    return Promise.resolve(
      new Response(new Uint8Array(asStream ? event : body), {
        headers: { 'content-type': asStream ? 'text/event-stream' : 'application/json' },
      }),
    );
  });
}

afterEach(() => vi.restoreAllMocks());

/** Discovers the server like its monitor. Returns what is wrong with the outcome, if anything. */
async function faultOf(name: string): Promise<string[]> {
  const deadline = createDeadline(2_000);
  try {
    const options = { transport: 'http', maxBytes: 1_000_000 } as const;
    const { channel, capabilities } = await negotiate(endpoint, options, deadline);
    const { items, ttlMs } = await discover({ channel, deadline, hidden: [] }, capabilities);
    const invalid = items.tools.filter(text => !ToolSchema.safeParse(JSON.parse(text)).success);
    const isTime = KINDS.every(
      kind => Number.isInteger(ttlMs[kind] ?? 0) && (ttlMs[kind] ?? 0) >= 0,
    );
    return invalid.length === 0 && isTime
      ? []
      : [`${name}: ${invalid.join()} ${JSON.stringify(ttlMs)}`];
  } catch (error) {
    const isKnown = error instanceof PorticoError || error instanceof SessionForgotten;
    const isOurs = error instanceof PorticoError && error.code === 'internal';
    return isKnown && !isOurs && !deadline.signal.aborted ? [] : [`${name}: ${String(error)}`];
  } finally {
    deadline.release();
  }
}

it.each(Object.keys(WAYS).flatMap(way => [false, true].map(asStream => ({ way, asStream }))))(
  `[REG-5] [MCP-12] ends well with hostile bytes as $way, stream $asStream (${origin})`,
  async ({ way, asStream }) => {
    const faults: string[] = [];
    for (const { name, bytes } of bodies) {
      serve(WAYS[way] as Answer, bytes, asStream);
      faults.push(...(await faultOf(name)));
      vi.restoreAllMocks();
    }
    expect(faults).toEqual([]);
  },
);
