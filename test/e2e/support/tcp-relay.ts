/** A relay of bytes on loopback that a test can cut: every connection is destroyed, and new ones too until it is restored. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface TcpRelay {
  /** The relay's scheme, host and port. */
  origin: string;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Starts a relay to a port of this machine. */
export async function startTcpRelay(port: number): Promise<TcpRelay> {
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer(near => {
    if (isCut) return void near.destroy();
    const far = connect(port, '127.0.0.1');
    const destroy = () => {
      open.delete(near);
      near.destroy();
      far.destroy();
    };
    open.add(near);
    for (const socket of [near, far]) socket.on('error', destroy).on('close', destroy);
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    isCut = true;
    for (const socket of open) socket.destroy();
  };
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend: () => {
      isCut = false;
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}
