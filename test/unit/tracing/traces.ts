/** A trace to test with, made by a tracer with a fake clock. */
import { createTracer } from '../../../src/tracing/create-tracer.ts';
import type { FinishedTrace } from '../../../src/tracing/trace.ts';
import type { Span } from '../../../src/tracing/tracer.ts';

export const START = Date.UTC(2026, 10, 22, 10, 15, 0);

export interface TracerStand {
  start(name: string, attributes?: object, parent?: string): Span;
  /** Advances the clock. */
  pass(ms: number): void;
  /** The traces exported so far, once all exports are done. */
  ended(): Promise<FinishedTrace[]>;
}

export function createStand(): TracerStand {
  let now = START;
  const traces: FinishedTrace[] = [];
  const deferred: Promise<unknown>[] = [];
  const tracer = createTracer(
    trace => {
      traces.push(trace);
      return Promise.resolve();
    },
    () => now,
  );
  return {
    start: (name, attributes = {}, parent) =>
      tracer.start(name, { ...attributes }, work => void deferred.push(work), parent),
    pass: ms => void (now += ms),
    async ended() {
      await Promise.all(deferred);
      return traces;
    },
  };
}

/** A typical ask: two stages, one of them with a failed call. */
export async function makeTrace(): Promise<FinishedTrace> {
  const stand = createStand();
  const root = stand.start('ask', { model: 'm', steps: 2, share: 0.5, dry: false });
  const plan = root.child('plan', { tokens: 12 });
  stand.pass(1_240);
  plan.end({ decision: 'planned' });
  const call = root.child('call', { tool: 'docs.search' });
  stand.pass(60);
  call.end({ decision: 'allowed', error: 'upstream_unavailable' });
  root.child('summary');
  root.end({ decision: 'answered' });
  const [trace] = await stand.ended();
  if (trace === undefined) throw new Error('no trace was handed on');
  return trace;
}
