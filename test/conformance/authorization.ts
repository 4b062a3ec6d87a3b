/**
 * Runs the suite against the gateway's authorization server; no revision's list names these scenarios. The suite prints an address for a
 * person and waits at its callback; our person opens the address and fetches the callback with the answer.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serveClientDocument } from '../fixtures/client-document.ts';
import { Person } from '../fixtures/person.ts';
import { untilEnd } from './children.ts';
import type { Requirements } from './requirements.ts';
import { createToken, type Gateway } from './stand.ts';
import { command, readOutcome, type Outcome } from './suite.ts';

const SCENARIOS = ['authorization-server-metadata-endpoint', 'authorization-code-grant'];
const TIMEOUT_MS = 60_000;
const REVISION = '2026-07-28';

/** The requirements for an authorization server, in the form of a revision's list. */
export const AUTHORIZATION: Requirements = {
  revision: REVISION,
  required: { server: SCENARIOS, client: [] },
  notScored: { server: new Map(), client: new Map() },
};

/** Runs the suite as a program that a person authorises, identified by its metadata document. */
export async function testAuthorization(
  gateway: Gateway,
  folder: string,
): Promise<Map<string, Outcome>> {
  const { origin } = gateway;
  const person = new Person(await createToken(gateway, { name: 'conformance' }));
  const document = await serveClientDocument('conformance', ['http://127.0.0.1/callback']);
  const port = await findFreePort();
  const who = ['--url', origin, '--client-id', document.id, '--resource', `${origin}/mcp`];
  const rest = ['--port', String(port), '--spec-version', REVISION, '-o', folder];
  const child = spawn(process.execPath, [command, 'authorization', ...who, ...rest], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  createInterface(child.stdout).on('line', line => {
    if (!line.startsWith(`${origin}/`)) return;
    // If no answer comes, the scenario fails at its timeout.
    void person.allow(line).then(fetch).catch(say);
  });
  try {
    await untilEnd(child, TIMEOUT_MS);
  } finally {
    document.close();
  }
  const outcomes = new Map<string, Outcome>();
  for (const entry of readdirSync(folder)) {
    const name = SCENARIOS.find(scenario => entry.includes(scenario));
    if (name !== undefined) outcomes.set(name, readOutcome(join(folder, entry)));
  }
  return outcomes;
}

const say = (error: unknown) => void process.stderr.write(`The person: ${String(error)}\n`);

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
