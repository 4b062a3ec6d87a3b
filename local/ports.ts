/** Ports of this machine, by default of the loopback interface: checks whether one is free, or finds a free one. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { StartError } from './start-error.ts';

export const LOOPBACK = '127.0.0.1';

/** Takes a port for a moment; `0` takes any. Returns the port, or undefined if something listens there. */
async function probe(port: number, host = LOOPBACK): Promise<number | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') return undefined;
    const where = host === LOOPBACK ? '' : ` of ${host}`;
    throw new StartError(`Port ${port}${where} cannot be used (${code ?? String(error)}).`);
  }
  const taken = (server.address() as AddressInfo).port;
  server.close();
  await once(server, 'close');
  return taken;
}

/** Whether nothing listens on a port. */
export async function isFreePort(port: number, host = LOOPBACK): Promise<boolean> {
  return (await probe(port, host)) !== undefined;
}

/** Returns a port that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const port = await probe(0);
  if (port === undefined) throw new StartError('No free port on 127.0.0.1.');
  return port;
}

/** Returns the one-line error for a port that is in use. */
export function portTaken(port: number): StartError {
  const other = port === 8788 ? 8789 : 8788;
  return new StartError(
    `Port ${port} is already in use. Stop what listens there, or choose another one: npm start -- --port ${other}`,
  );
}
