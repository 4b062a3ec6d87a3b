/**
 * What every call to a server goes through, whoever makes it: a call to a server whose circuit is open is refused before it leaves,
 * and of every other it is told how it ended. A call waits for nothing here.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { errorEntry, type ErrorCode } from '../../shared/errors/table.ts';
import type { Server } from '../../servers/registry/server-schema.ts';
import type { CallContext, CallMessages, CallReply } from '../../upstream/protocol/call.ts';
import type { OutboundRequest } from '../../upstream/protocol/wire-request.ts';
import type { CallReports } from './call-reports.ts';

/** Puts a request to a server. */
export type Call = (
  server: Server,
  request: OutboundRequest,
  name: string | undefined,
  context: CallContext,
) => Promise<CallReply>;

/** Told once how a call ended: answered, or with what error; not told of one its client left. */
type OnEnd = (code?: ErrorCode) => void;

const codeOf = (thrown: unknown): ErrorCode =>
  thrown instanceof PorticoError ? thrown.code : 'internal';

/** A server that is called is tried within a second. */
const RETRY_AFTER_SECONDS = 1;

/**
 * `call`, but for servers that are given a rest: a refusal that waits for nothing.
 * @param reports hear of it, since a server that is called is tried sooner
 */
export function withCircuit(call: Call, reports?: Pick<CallReports, 'refuse'>): Call {
  return (server, request, name, context) => {
    if (server.circuitRetryAt === null) return call(server, request, name, context);
    reports?.refuse(server, context.waitUntil);
    const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    return Promise.reject(new PorticoError('circuit_open', restOf(server), details));
  };
}

/** Why it rests, in the words that the registry has. */
function restOf({ lastError }: Server): string {
  const { title } = errorEntry('circuit_open');
  return lastError === null ? title : `${title}. It failed with ${lastError}`;
}

/** `call`, with its ends reported. */
export function withReports(call: Call, reports: CallReports): Call {
  return (server, request, name, context) => {
    const startedAt = performance.now();
    const onEnd: OnEnd = code => {
      if (context.signal.aborted) return;
      reports.add(server, code, performance.now() - startedAt, context.waitUntil);
    };
    return call(server, request, name, context).then(
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
