/**
 * The other direction of a call: what the server asks while it works, and what it is told. Questions
 * go to the caller where the client said that it answers them, with the way back; all others are
 * answered here. While a question waits, the call's deadline waits for it.
 */
import type { Deadline } from './deadline.ts';
import type { CallContext, CallMessages } from './call.ts';
import { postNotification } from './channel.ts';
import { createDeadline } from './deadline.ts';
import type { Destination } from './destination.ts';
import type { UpstreamMessage } from './message.ts';
import { withoutSecrets } from './redact.ts';
import { PorticoError } from '../errors/portico-error.ts';
import { canBeAsked, capabilityFor } from '../session/askable.ts';
import type { RawAnswer } from './question.ts';
import type { RequestId } from '../protocol.ts';
import { requestHeaders, type Manner } from './wire-request.ts';

/** The call whose server talks back, and the way to it. */
export interface Talk {
  destination: Destination;
  manner: Manner;
  deadline: Deadline;
  context: CallContext;
  questionTimeoutMs: number;
  /** The caller gave a progress token; progress nobody asked for is dropped. */
  wantsProgress: boolean;
  /** How a message gets to the server; by a POST of its own where absent. */
  send?(text: string): Promise<void>;
}

const LIST_CHANGED = /^notifications\/(?:tools|resources|prompts)\/list_changed$/;
const REFUSAL = { error: '{"code":-32601,"message":"Method not found"}' };

/**
 * The messages of a call as its caller sees them. Releases the deadline at their end.
 * @param onChange told of the server when one of its lists changed
 */
export async function* toCallMessages(
  messages: AsyncIterable<UpstreamMessage> | Iterable<UpstreamMessage>,
  talk: Talk,
  onChange: (serverId: string) => Promise<unknown>,
): CallMessages {
  const { deadline, context, destination } = talk;
  try {
    for await (const message of messages) {
      if (message.kind === 'request') {
        const { method, id, params } = message;
        if (!canBeAsked(context.capabilities, method)) {
          const needed = capabilityFor(method);
          if (needed && context.questions === 'park') {
            throw new PorticoError('missing_client_capability', undefined, {
              data: { requiredCapabilities: { [needed]: {} } },
            });
          }
          const answer = method === 'ping' ? { result: '{}' } : REFUSAL;
          context.defer(sendAnswer(talk, id, answer));
          continue;
        }
        const resume = deadline.hold(talk.questionTimeoutMs);
        const answer = async (given: RawAnswer) => {
          resume();
          await sendAnswer(talk, id, given);
        };
        yield { kind: 'question', method, params, answer };
      } else if (message.kind === 'notification') {
        if (LIST_CHANGED.test(message.method)) {
          context.defer(onChange(destination.serverId));
          continue;
        }
        if (message.method !== 'notifications/progress') yield message;
        else if (talk.wantsProgress) {
          deadline.restart();
          yield message;
        }
      } else if (message.kind === 'response') {
        yield withoutSecrets(message, destination.headers);
        return;
      }
    }
  } finally {
    deadline.release();
  }
}

/** Give a server the answer to its question. Whether it arrives, the call itself will show. */
async function sendAnswer(talk: Talk, id: RequestId, answer: RawAnswer): Promise<void> {
  const [member, raw] =
    'result' in answer ? (['result', answer.result] as const) : (['error', answer.error] as const);
  const text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${member}":${raw}}`;
  if (talk.send) return talk.send(text);
  const { destination, manner } = talk;
  return briefly(async deadline => {
    const response = await fetch(destination.url, {
      method: 'POST',
      headers: requestHeaders(destination, manner, ''),
      body: text,
      redirect: 'manual',
      signal: deadline.signal,
    });
    await response.body?.cancel();
  });
}

/** Tell a server something whose fate nobody waits for. */
export function sendNotification(
  destination: Destination,
  manner: Manner,
  notification: { method: string; params?: unknown },
): Promise<void> {
  return briefly(deadline => postNotification(destination, manner, notification, deadline));
}

/** Work whose outcome nobody waits for, with an end. */
async function briefly(work: (deadline: Deadline) => Promise<void>): Promise<void> {
  const deadline = createDeadline(5_000);
  await work(deadline).catch(() => {});
  deadline.release();
}
