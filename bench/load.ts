/**
 * The load generator: a closed loop over raw keep-alive sockets, one request in flight per connection.
 *
 * Owns: sending, timing (from the write of a request to the last byte of its response, in fractions of a millisecond), and the check of
 * every response, after the clock was stopped. Refuses: a failed check, a closed connection, a response later than `ANSWER_TIMEOUT_MS`:
 * each ends the run with an error.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

import { AnswerReader } from './answer-reader.ts';
import type { Answer } from './answer-reader.ts';

const ANSWER_TIMEOUT_MS = 20_000;

/** One kind of request: its bytes for a unique number, and the check of the response. */
export interface Exchange {
  write(connection: number, n: number): string;
  /** Throws unless the response is right for the request `n` of that connection. */
  check(answer: Answer, n: number): void;
}

/** Result of a slice of load: latencies in milliseconds, ascending, and the total time. */
export interface Sample {
  latenciesMs: Float64Array;
  elapsedMs: number;
}

/** Returns the latency at a share (0.5, 0.99) of an ascending list. */
export function percentile(ascending: Float64Array, share: number): number {
  const at = Math.min(ascending.length - 1, Math.floor(ascending.length * share));
  return ascending[at] ?? Number.NaN;
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

let lastNumber = 100_000_000;

/** Returns numbers of equal length, so that every request of a kind has the same size; never the same twice. */
export function nextNumber(): number {
  lastNumber += 1;
  return lastNumber;
}

function drive(
  socket: Socket,
  connection: number,
  exchange: Exchange,
  deadline: number,
  latencies: number[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const reader = new AnswerReader();
    let n = 0;
    let startedAt = 0;
    const next = (): void => {
      n = nextNumber();
      const text = exchange.write(connection, n);
      startedAt = performance.now();
      socket.write(text, 'latin1');
    };
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => fail(new Error('no answer in time')));
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the connection was closed')));
    socket.on('data', data => {
      try {
        const answer = reader.push(data);
        if (!answer) return;
        const now = performance.now();
        latencies.push(now - startedAt);
        exchange.check(answer, n);
        if (now < deadline) return next();
        socket.removeAllListeners('close');
        socket.destroy();
        resolve();
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
    next();
  });
}

/** Keeps `connections` sockets to a loopback port busy for `durationMs`, and returns the measurements. */
export async function runLoad(load: {
  port: number;
  connections: number;
  durationMs: number;
  exchange: Exchange;
}): Promise<Sample> {
  const sockets = await Promise.all(
    Array.from({ length: load.connections }, () => open(load.port)),
  );
  const latencies: number[] = [];
  const startedAt = performance.now();
  const deadline = startedAt + load.durationMs;
  try {
    await Promise.all(
      sockets.map((socket, index) => drive(socket, index, load.exchange, deadline, latencies)),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const elapsedMs = performance.now() - startedAt;
  return { latenciesMs: Float64Array.from(latencies).toSorted(), elapsedMs };
}
