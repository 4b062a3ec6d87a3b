/**
 * The cost of telemetry: Portico without its log and traces, with the log (the default), with a tenth of all requests traced to a working
 * collector, and with all of them traced to one that is dead or never responds.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Options } from './options.ts';
import { measureVariants } from './variants.ts';

const OFF = { PORTICO_LOG: 'off' };

/** Runs all rounds; returns a table. */
export async function measureTelemetry(
  options: Options,
  say: (line: string) => void,
): Promise<string> {
  const good = await listen(server =>
    server.on('request', (asked, answer) => asked.resume().on('end', () => answer.end('{}'))),
  );
  const silent = await listen(server => server.on('request', asked => asked.resume()));
  const gone = await listen(() => {});
  gone.close();
  const tracedTo = (url: string, ratio: string) => ({
    ...OFF,
    PORTICO_OTLP_URL: url,
    PORTICO_TRACE_RATIO: ratio,
  });
  try {
    return await measureVariants(
      OFF,
      {
        'log on': {},
        'a tenth traced': tracedTo(good.url, '0.1'),
        'log on, a tenth traced': { PORTICO_OTLP_URL: good.url, PORTICO_TRACE_RATIO: '0.1' },
        'collector dead': tracedTo(gone.url, '0.1'),
        'collector silent': tracedTo(silent.url, '0.1'),
      },
      options,
      say,
    );
  } finally {
    good.close();
    silent.close();
  }
}

async function listen(serve: (server: Server) => void) {
  const server = createServer();
  serve(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
