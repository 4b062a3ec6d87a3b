/**
 * The load generator for a program over stdin and stdout: a closed loop with one call in flight per client.
 *
 * Owns: the child, and the same duties as load.ts: timing from the write of a request to the end of its response, and a check of each.
 * Refuses: a wrong response, a child that ends, a response later than `ANSWER_TIMEOUT_MS`.
 */
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';

import { callBody } from './exchanges.ts';
import { nextNumber } from './load.ts';
import type { Sample } from './load.ts';

const ANSWER_TIMEOUT_MS = 20_000;

/** A program called directly. */
export interface DirectProgram {
  /** Keeps this many calls of its `echo` in flight for this long. */
  run(load: { clients: number; durationMs: number }): Promise<Sample>;
  stop(): void;
}

interface RpcAnswer {
  id: number;
  result?: { content?: { text?: string }[] };
}

/** Starts a Node program that speaks MCP over stdio. */
export function startDirectProgram(file: string): DirectProgram {
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, (answer: RpcAnswer) => void>();
  let fail: (error: Error) => void = () => {};
  child.on('error', error => fail(error));
  child.on('exit', () => fail(new Error('the program ended')));
  // If the program is gone, its exit event reports it.
  child.stdin.on('error', () => {});
  createInterface(child.stdout).on('line', line => {
    const answer: RpcAnswer = JSON.parse(line);
    const take = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (take) take(answer);
    else fail(new Error(`an answer to nothing: ${line}`));
  });

  const drive = (deadline: number, latencies: number[], done: () => void): void => {
    const n = nextNumber();
    const text = callBody('modern', 'echo', n);
    const startedAt = performance.now();
    waiting.set(n, answer => {
      const now = performance.now();
      latencies.push(now - startedAt);
      if (answer.result?.content?.[0]?.text !== String(n)) {
        return fail(new Error(`wrong answer: ${JSON.stringify(answer)}`));
      }
      if (now < deadline) drive(deadline, latencies, done);
      else done();
    });
    child.stdin.write(`${text}\n`);
  };

  return {
    async run({ clients, durationMs }) {
      const latencies: number[] = [];
      const startedAt = performance.now();
      const late = new Error('no answer in time');
      const timer = setTimeout(() => fail(late), durationMs + ANSWER_TIMEOUT_MS);
      const lanes = Array.from(
        { length: clients },
        () => new Promise<void>(done => drive(startedAt + durationMs, latencies, done)),
      );
      const broken = new Promise<never>((_, reject) => (fail = reject));
      await Promise.race([Promise.all(lanes), broken]).finally(() => clearTimeout(timer));
      const elapsedMs = performance.now() - startedAt;
      return { latenciesMs: Float64Array.from(latencies).toSorted(), elapsedMs };
    },
    stop: () => void child.kill(),
  };
}
