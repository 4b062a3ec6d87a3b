/**
 * `tools/call` through Portico, mcp-hub and mcp-proxy, by turns in one run: one upstream over HTTP, one load generator. What each does for
 * a call is said with the figures, since it is not the same.
 */
import { cpus } from 'node:os';
import { createCallExchange } from './exchanges.ts';
import { runLoad, type Exchange } from './load.ts';
import type { Options } from './options.ts';
import { HUB_SERVER, startPeers } from './peers/start-peers.ts';
import {
  MAX_CONNECTIONS,
  openSessions,
  relayPath,
  serverName,
  startBench,
  upstreamUrl,
  type Bench,
} from './setup.ts';
import { toRow, toSummary, toTable, type Summary } from './table.ts';

const CLIENTS = [1, MAX_CONNECTIONS] as const;
const PORTICO = 'Portico';

const DOES = `What each does for a call:

|                                     | relay | mcp-proxy        | mcp-hub | Portico |
| ----------------------------------- | ----- | ---------------- | ------- | ------- |
| session or request checked          | no    | its session      | no      | yes     |
| token, revoked within a second      | no    | no (one API key) | no      | yes     |
| access rules, hidden tools          | no    | no               | no      | yes     |
| many servers behind one URL         | no    | no               | yes     | yes     |
| arguments and result byte for byte  | no    | no               | no      | yes     |
| record of the call, redacted        | no    | no               | no      | yes     |
| bounds of size, depth, time, memory | no    | size, time       | time    | yes     |
| circuit, draining, health           | no    | no               | no      | yes     |`;

interface Side {
  name: string;
  port: number;
  exchange: Exchange;
}

/** A call by the REST API of mcp-hub, which costs it less than its MCP endpoint (HTTP+SSE). */
function createHubExchange(): Exchange {
  return {
    write(_, n) {
      const call = { server_name: HUB_SERVER, tool: 'echo', arguments: { message: String(n) } };
      const body = JSON.stringify(call);
      const head = `POST /api/servers/tools HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
      const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
      return head + headers + body;
    },
    check({ status, body }, n) {
      const text = body.toString();
      if (status !== 200 || !text.includes(`"text":"${n}"`)) throw new Error(`mcp-hub: ${text}`);
    },
  };
}

async function sidesOf(bench: Bench, ports: { hub: number; proxy: number }): Promise<Side[]> {
  const { token } = bench;
  const relayed = relayPath(bench.ports.upstream, 'legacy');
  const proxy = `http://127.0.0.1:${ports.proxy}/mcp`;
  const legacy = (path: string, sessions: readonly string[]) =>
    ({ path, era: 'legacy', token, sessions }) as const;
  const tool = `${serverName('legacy')}.echo`;
  return [
    {
      name: PORTICO,
      port: bench.ports.portico,
      exchange: createCallExchange(legacy('/mcp', bench.sessions.portico), tool),
    },
    { name: 'mcp-hub', port: ports.hub, exchange: createHubExchange() },
    {
      name: 'mcp-proxy',
      port: ports.proxy,
      exchange: createCallExchange(legacy('/mcp', await openSessions(proxy, token)), 'echo'),
    },
    {
      name: 'relay',
      port: bench.ports.relay,
      exchange: createCallExchange(legacy(relayed, bench.sessions.relay), tool),
    },
  ];
}

/** Runs all rounds; gives a table for each of the others, with what each does. */
export async function measurePeers(options: Options, say: (line: string) => void): Promise<string> {
  say('starting the upstream, Portico, mcp-hub and mcp-proxy');
  const bench = await startBench({});
  try {
    const peers = await startPeers(upstreamUrl(bench.ports.upstream, 'legacy'));
    try {
      const sides = await sidesOf(bench, peers.ports);
      const measured = new Map<string, Summary[]>();
      for (let round = 0; round <= options.rounds; round += 1) {
        say(round === 0 ? 'warm-up round' : `round ${round} of ${options.rounds}`);
        for (const clients of CLIENTS) {
          for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
            const durationMs = options.secondsPerSlice * 1_000;
            const sample = await runLoad({ ...side, connections: clients, durationMs });
            const key = `${side.name} ${clients}`;
            const known = measured.get(key) ?? [];
            if (round > 0) measured.set(key, [...known, toSummary(sample)]);
          }
        }
      }
      const tables = ['mcp-hub', 'mcp-proxy', 'relay'].map(other => {
        const rows = CLIENTS.map(clients => {
          const own = measured.get(`${PORTICO} ${clients}`) ?? [];
          const pairs = (measured.get(`${other} ${clients}`) ?? []).flatMap((relay, round) => {
            const portico = own[round];
            return portico ? [{ relay, portico }] : [];
          });
          return toRow('tools/call, legacy', clients, pairs);
        });
        return toTable(rows, [other, PORTICO]);
      });
      const rounds = `${options.rounds} interleaved rounds of ${options.secondsPerSlice} s`;
      const note = `Medians of ${rounds} on ${cpus().length} cores that all share, with default settings.`;
      return [...tables, note, DOES].join('\n\n');
    } finally {
      await peers.stop();
    }
  } finally {
    await bench.stop();
  }
}
