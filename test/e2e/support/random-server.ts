/**
 * A server of a random world over HTTP. It writes its responses in the odd forms that the transport allows: byte order marks, white space,
 * other line ends, comments, ids, pieces of a few bytes, status 201. Pages have one item, with odd cursors. Bound to loopback.
 */
import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { memberAt } from '../../fixtures/raw-json.ts';
import { readBody } from '../../fixtures/serve.ts';
import type { Random } from '../../unit/seeded.ts';
import { LISTED, type Said, type World } from './random-world.ts';

export interface RandomServer {
  url: string;
  /** Raw params of the last request that named an item. */
  asked: string;
  close(): Promise<void>;
}

const CURSOR = ' é"\\';
const ABOUT = { serverInfo: { name: 'random', version: '1' } };
const CAPABILITIES = { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} };

/** Returns the subject of a request, as the world takes it. */
export const subjectOf = (params: string): string =>
  memberAt(params, 'ref') ?? memberAt(params, 'uri') ?? memberAt(params, 'name') ?? '';

function asStream(texts: readonly string[], random: Random): Buffer {
  const end = random.pick(['\n', '\r', '\r\n']);
  const events = texts.map((text, i) => {
    const lines = random.chance(0.5) ? [`id: ${i}é`, 'event: message', ': note'] : [];
    return [...lines, `data:${random.pick(['', ' '])}${text}`, 'other: x', '', ''].join(end);
  });
  const head = random.chance(0.5) ? `\ufeffretry: 10${end}: hello${end}${end}` : '';
  return Buffer.from(head + events.join(''));
}

async function write(response: ServerResponse, bytes: Buffer, random: Random): Promise<void> {
  const size = random.chance(0.5) ? bytes.length : 1 + random.below(60);
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size));
    await new Promise(setImmediate);
  }
  response.end();
}

/** @param streams whether it responds with event streams; without them it sends no notifications */
export async function startRandom(
  world: World,
  streams: boolean,
  random: Random,
): Promise<RandomServer> {
  const caching = { resultType: 'complete', ttlMs: 1_000, cacheScope: 'private' };
  const base = world.era === 'modern' ? caching : {};
  const told = (result: object): Said => {
    return { notes: [], member: 'result', text: JSON.stringify({ ...base, ...result }) };
  };

  function answer(method: string, params: string): Said {
    const member = LISTED.get(method);
    if (member !== undefined) {
      const items = world.lists.get(method) ?? [];
      const cursor = JSON.parse(
        memberAt(params, 'cursor') ?? `"${JSON.stringify(CURSOR).slice(1, -1)}0"`,
      );
      const at = Number(String(cursor).slice(CURSOR.length));
      const next = at + 1 < items.length ? { nextCursor: `${CURSOR}${at + 1}` } : {};
      const { text } = told(next);
      const list = `{"${member}":[${items.slice(at, at + 1).join()}]${text === '{}' ? '' : ','}`;
      return { notes: [], member: 'result', text: list + text.slice(1) };
    }
    if (method === 'initialize' && world.era === 'legacy') {
      return told({ protocolVersion: '2025-11-25', capabilities: CAPABILITIES, ...ABOUT });
    }
    if (method === 'server/discover' && world.era === 'modern') {
      return told({ supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES, ...ABOUT });
    }
    if (!/^(?:tools\/call|prompts\/get|resources\/read|completion\/complete)$/u.test(method)) {
      return { notes: [], member: 'error', text: '{"code":-32601,"message":"Method not found"}' };
    }
    own.asked = params;
    const token = params.includes('"progressToken"')
      ? memberAt(params, '_meta', 'progressToken')
      : undefined;
    return world.say(method, subjectOf(params), token);
  }

  function reply(text: string, response: ServerResponse): Promise<void> | void {
    const id = memberAt(text, 'id');
    if (id === undefined) return void response.writeHead(202).end();
    const said = answer(String(JSON.parse(text).method), memberAt(text, 'params') ?? '{}');
    const members = ['"jsonrpc":"2.0"', `"id" : ${id}`, `"${said.member}":${said.text}`];
    const space = random.pick(['', ' ']);
    const document = `{${space}${(random.chance(0.5) ? members : members.toReversed()).join()}}${space}`;
    const type = streams ? 'Text/Event-Stream; charset=utf-8' : 'application/json;charset="UTF-8"';
    response.writeHead(random.pick([200, 201]), { 'content-type': type });
    if (streams) return write(response, asStream([...said.notes, document], random), random);
    return write(response, Buffer.from(random.pick(['', '\ufeff\n']) + document), random);
  }

  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    readBody(request)
      .then(text => reply(text, response))
      .catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  server.keepAliveTimeout = 600_000;
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const own: RandomServer = {
    url: `http://127.0.0.1:${port}/mcp`,
    asked: '',
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return own;
}
