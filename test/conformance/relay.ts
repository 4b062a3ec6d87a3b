/**
 * A relay on loopback that adds the credential, for which the suite has no option, and on request the qualified names of one server
 * (`naming.ts`). It changes nothing else: method, headers (Host and Origin too) and bodies are streamed unchanged in both directions. When
 * one side closes its connection the relay closes the other, so cancellation is seen.
 */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import type { Naming } from './naming.ts';

export interface Relay {
  url: string;
  close(): void;
}

/** Headers that give the length of a body; renaming changes the length. */
const LENGTHS = new Set(['content-length', 'transfer-encoding']);

/** Returns raw headers without the length headers, each value passed through `change`. */
function changed(raw: readonly string[], change = (_name: string, value: string) => value) {
  const kept: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = '', value = ''] = raw.slice(i, i + 2);
    if (!LENGTHS.has(name.toLowerCase())) kept.push(name, change(name.toLowerCase(), value));
  }
  return kept;
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Forwards whole lines, each passed through `change`. */
function byLines(change: (text: string) => string): Transform {
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const all = Buffer.concat([rest, chunk]);
      const end = all.lastIndexOf('\n') + 1;
      rest = all.subarray(end);
      done(null, change(all.subarray(0, end).toString('utf8')));
    },
    flush(done) {
      done(null, change(rest.toString('utf8')));
    },
  });
}

/** Starts a relay to an endpoint. */
export async function startRelay(endpoint: string, token: string, naming?: Naming): Promise<Relay> {
  const { hostname, port, pathname } = new URL(endpoint);
  const server = createServer((incoming, outgoing) => {
    void pass(incoming, outgoing).catch(() => outgoing.destroy());
  });

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, rawHeaders } = incoming;
    const called = String(incoming.headers['mcp-method'] ?? '');
    const own = naming
      ? changed(rawHeaders, (name, value) =>
          name === 'mcp-name' ? naming.header(called, value) : value,
        )
      : rawHeaders;
    const body = naming ? Buffer.from(naming.request(await textOf(incoming))) : undefined;
    const length = body?.length ? ['Content-Length', String(body.length)] : [];
    const headers = [...own, ...length, 'Authorization', `Bearer ${token}`];
    const onward = request({ hostname, port, path: pathname, method, headers, setHost: false });
    onward.on('response', answer => {
      const given = naming ? changed(answer.rawHeaders) : answer.rawHeaders;
      outgoing.writeHead(answer.statusCode ?? 502, given);
      outgoing.flushHeaders();
      (naming ? answer.pipe(byLines(naming.answer)) : answer).pipe(outgoing);
      answer.on('error', () => outgoing.destroy());
    });
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    if (body) onward.end(body);
    else incoming.pipe(onward);
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
