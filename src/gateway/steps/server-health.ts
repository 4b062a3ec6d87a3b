/**
 * A call and the health of its server: refused before it leaves where the server is given a rest, and when it has ended reported, whether
 * it was answered or with what error. No call waits for either.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { errorEntry, type ErrorCode } from '../../shared/errors/table.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CallReports } from '../health/call-reports.ts';
import type { SendStep } from './send.ts';
import type { CallMessages } from '../../upstream/protocol/call.ts';

/** A server that is called is tried within a second. */
const RETRY_AFTER_SECONDS = 1;

/** @param reports hear of it, since a server that is called is tried sooner */
export function refuseOpenCircuit(reports: Pick<CallReports, 'refuse'>): SendStep {
  return next => (server, request, name, context) => {
    const refusal = circuitRefusal(server);
    if (!refusal) return next(server, request, name, context);
    reports.refuse(server, context.waitUntil);
    return Promise.reject(refusal);
  };
}

/** Why a call to a server is refused, in the words that the registry has; undefined where its circuit is closed. */
export function circuitRefusal({ circuitRetryAt, lastError }: Server): PorticoError | undefined {
  if (circuitRetryAt === null) return undefined;
  const { title } = errorEntry('circuit_open');
  const why = lastError === null ? title : `${title}. It failed with ${lastError}`;
  return new PorticoError('circuit_open', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Told once how a call ended: answered, or with what error; not told of one its client left. */
type OnEnd = (code?: ErrorCode) => void;

const codeOf = (thrown: unknown): ErrorCode =>
  thrown instanceof PorticoError ? thrown.code : 'internal';

export function reportOutcome(reports: Pick<CallReports, 'add'>): SendStep {
  return next => (server, request, name, context) => {
    const startedAt = performance.now();
    const onEnd: OnEnd = code => {
      if (context.signal.aborted) return;
      reports.add(server, code, performance.now() - startedAt, context.waitUntil);
    };
    return next(server, request, name, context).then(
      reply => {
        if ('messages' in reply) return { messages: watched(reply.messages, onEnd) };
        onEnd();
        return reply;
      },
      (thrown: unknown) => {
        onEnd(codeOf(thrown));
        throw thrown;
      },
    );
  };
}

async function* watched(messages: CallMessages, onEnd: OnEnd): CallMessages {
  let isAsking = false;
  try {
    for await (const message of messages) {
      isAsking = message.kind === 'question';
      if (message.kind === 'response') onEnd();
      yield message;
    }
  } catch (thrown) {
    // Time that ran out while the client was asked is not the server's.
    onEnd(isAsking ? 'internal' : codeOf(thrown));
    throw thrown;
  }
}
