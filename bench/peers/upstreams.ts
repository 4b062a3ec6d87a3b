/** The servers behind the gateways, as processes of a run. */
import { fileURLToPath } from 'node:url';
import type { Era } from '../exchanges.ts';
import type { Upstream } from './gateway.ts';
import { answers, findPort, startProgram, whenReady, type Program } from './processes.ts';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const WIDE = fileOf('wide-server.ts');
const fixture = (name: string) => fileOf(`../../test/fixtures/${name}.ts`);

/** Running servers, and how to stop them. */
export interface Running<T> {
  upstreams: T;
  stop(): Promise<void>;
}

async function startServer(args: readonly string[], port: number): Promise<Program> {
  const program = startProgram(args, { env: {} });
  await whenReady(program, () => answers(`http://127.0.0.1:${port}/mcp`));
  return program;
}

/** The server that is called and restarted. */
export interface WideServer {
  /** The same server under several names, each with this many tools beside `echo`. */
  parts(servers: number, tools: number): Upstream[];
  /** Ends it like a crash. */
  crash(): Promise<void>;
  /** Restarts it on its port. */
  restart(): Promise<void>;
}

/** Starts the server that is called, restarted and listed. */
export async function startWide(): Promise<Running<WideServer>> {
  const port = await findPort();
  const start = () => startServer([WIDE, 'http', String(port)], port);
  let program = await start();
  return {
    upstreams: {
      parts: (servers, tools) =>
        Array.from({ length: servers }, (_, index) => ({
          name: `wide${index}`,
          url: `http://127.0.0.1:${port}/mcp/${index * tools}/${tools}`,
          command: [WIDE, 'stdio', String(index * tools), String(tools)],
        })),
      crash: () => program.stop('SIGKILL'),
      restart: async () => void (program = await start()),
    },
    stop: () => program.stop(),
  };
}

/** Starts the two servers of an era whose features are checked. */
export async function startFeatured(
  era: Era,
): Promise<Running<{ conformance: Upstream; rich: Upstream }>> {
  const ports = [await findPort(), await findPort()] as const;
  const only = era === 'modern' ? ['--era', 'modern'] : [];
  const programs = [
    await startServer(
      [fixture(`conformance-${era}`), '--port', String(ports[0]), ...only],
      ports[0],
    ),
    await startServer([fixture(`rich-${era}`), '--port', String(ports[1])], ports[1]),
  ];
  const sdk = ['--sdk', era === 'modern' ? '2' : '1'];
  const stdio =
    era === 'modern'
      ? [fixture('conformance-modern-stdio')]
      : [fixture('conformance-stdio'), ...sdk];
  const urlOf = (port: number) => `http://127.0.0.1:${port}/mcp`;
  return {
    upstreams: {
      conformance: { name: 'conformance', url: urlOf(ports[0]), command: stdio },
      rich: { name: 'rich', url: urlOf(ports[1]), command: [fixture('rich-stdio'), ...sdk] },
    },
    stop: async () => void (await Promise.all(programs.map(program => program.stop()))),
  };
}
