/** How a call ended is reported, for the health of its server: answered, or with what error. A call waits for nothing here. */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { ErrorCode } from '../../shared/errors/table.ts';
import type { CallMessages } from '../../upstream/protocol/call.ts';
import type { CallReports } from '../health/call-reports.ts';
import type { SendStep } from './send.ts';

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
