/**
 * A gateway for a team, as `npm start` runs it with a public URL: a process, a data folder, and requests to it from any loopback address.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, until } from '../../fixtures/start-fixture.ts';
import { endGateway, spawnStart } from './gateway.ts';

const READY_MS = 120_000;

export interface TeamGateway {
  port: number;
  adminToken: string;
  /** Its output. */
  output(): string;
  stop(): Promise<void>;
}

/** Starts a gateway; it serves when this resolves. */
export async function startTeamGateway(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<TeamGateway> {
  const data = await mkdtemp(join(tmpdir(), 'portico-team-'));
  const port = await findFreePort();
  const { child, output } = spawnStart(['--port', String(port), '--data', data, ...args], env);
  const state = await until('the gateway is ready', READY_MS, async () => {
    if (child.exitCode !== null) return 'ended';
    return output().includes('Portico is ready') ? 'ready' : undefined;
  }).catch(String);
  const stop = async () => {
    await endGateway(child);
    await rm(data, { recursive: true, force: true });
  };
  if (state !== 'ready') {
    await stop();
    throw new Error(`${state}\n${output()}`);
  }
  const secrets = JSON.parse(await readFile(join(data, 'secrets.json'), 'utf8')) as {
    adminToken: string;
  };
  return { port, adminToken: secrets.adminToken, output, stop };
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** The address of this machine from which the request comes. */
  from?: string;
  /** Certificate of the CA that signed the peer's. */
  ca?: string;
  /** Replaces the name in the address, for TLS and Host. */
  servername?: string;
}

export interface Got {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Sends a request on its own connection, with any Host and source address. */
export async function ask(url: string, asked: Asked = {}): Promise<Got> {
  const { body, from = '127.0.0.1', ca, servername, ...rest } = asked;
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const options = { ...rest, localAddress: from, agent: false as const };
  const { promise, resolve, reject } = Promise.withResolvers<Got>();
  const sent = send(url, {
    ...options,
    ...(ca ? { ca } : {}),
    ...(servername ? { servername } : {}),
  });
  sent.on('error', reject);
  sent.on('response', answer => {
    const { statusCode: status = 0, headers } = answer;
    text(answer).then(read => resolve({ status, headers, text: read }), reject);
  });
  sent.end(body);
  return promise;
}

/** Sends bytes to a port unchanged. @returns everything received until the other side closes */
export function sendRaw(port: number, bytes: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(port, '127.0.0.1');
  let read = '';
  socket.setEncoding('utf8');
  socket.on('data', data => (read += String(data)));
  socket.on('error', reject);
  socket.on('close', () => resolve(read));
  socket.write(bytes);
  return promise;
}
