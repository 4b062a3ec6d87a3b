/**
 * A call's share of what its server sends on a notification stream: the server requests and notifications that belong to it, beside those
 * on the call's own stream. A reply and a listener become one stream of messages.
 */
import type { JsonObject } from '../../shared/protocol.ts';
import { canAnswer } from '../../shared/client-capabilities.ts';
import type { Reply } from '../exchange.ts';
import type { UpstreamMessage } from '../protocol/message.ts';
import { createMessageQueue } from './message-queue.ts';
import type { SharedStream } from './shared-stream.ts';

export interface CallListener {
  /** Returns the next message, or undefined if no more will come. For one reader at a time. */
  take(): Promise<UpstreamMessage | undefined>;
  /**
   * The call is over.
   * @param cancelSent settles when the server knows; absent if it answered
   */
  close(cancelSent?: Promise<unknown>): void;
}

/** What a stream needs to know of a call that listens. */
export interface ListenerTerms {
  /** The capabilities of its client. */
  capabilities: JsonObject;
  /** Raw JSON of the call's progress token. */
  progressToken: string | undefined;
}

/** Creates a listener on a stream that is held here. */
export function joinStream(stream: SharedStream, terms: ListenerTerms): CallListener {
  const messages = createMessageQueue();
  const listener = {
    progressToken: terms.progressToken,
    canAnswer: (method: string) => canAnswer(terms.capabilities, method),
    put: (message: UpstreamMessage) => messages.put(message),
  };
  stream.join(listener);
  return {
    take: () => messages.take(),
    close(cancelSent) {
      stream.leave(listener, cancelSent);
      messages.end();
    },
  };
}

/** How to end a request that is in flight. */
export interface Ending {
  /** Hangs up; the server gets a cancellation. */
  stop(): void;
  /** Settles when the cancellation has been sent. */
  cancelSent(): Promise<void>;
}

type Step =
  { own: IteratorResult<UpstreamMessage, void> } | { received: UpstreamMessage | undefined };

/**
 * Returns the reply itself if it comes whole and the listener got nothing before, else a reply with the messages of both. Either closes the
 * listener; if this throws, the caller has to close it.
 */
export async function withListener(
  replying: Promise<Reply>,
  listener: CallListener,
  ending: Ending,
) {
  const received = listener.take();
  const first = await Promise.race([replying, received]);
  // The listener will get nothing more: the reply is all there is.
  const whole = first ?? (await replying);
  if ('headers' in whole && (whole.response || !first)) {
    listener.close();
    return whole;
  }
  const messages = merged(messagesOf(replying), received, listener, ending);
  return { headers: new Headers(), messages } satisfies Reply;
}

async function* messagesOf(
  replying: Promise<Reply>,
): AsyncGenerator<UpstreamMessage, void, undefined> {
  const { response, messages } = await replying;
  if (response) yield response;
  else if (messages) yield* messages;
}

async function* merged(
  source: AsyncGenerator<UpstreamMessage, void, undefined>,
  received: Promise<UpstreamMessage | undefined>,
  listener: CallListener,
  ending: Ending,
): AsyncGenerator<UpstreamMessage, void, undefined> {
  const next = (): Promise<Step> => source.next().then(own => ({ own }));
  const listen = (taking = listener.take()): Promise<Step> =>
    taking.then(message => ({ received: message }));
  let isOver = false;
  let own = next();
  let waiting: Promise<Step> | undefined = listen(received);
  try {
    for (;;) {
      const step: Step = await Promise.race(waiting ? [own, waiting] : [own]);
      if ('received' in step) {
        waiting = step.received ? listen() : undefined;
        if (step.received) yield step.received;
        continue;
      }
      isOver = step.own.done === true || step.own.value.kind === 'response';
      if (!step.own.done) yield step.own.value;
      if (isOver) return;
      own = next();
    }
  } finally {
    own.catch(() => {});
    if (!isOver) ending.stop();
    listener.close(isOver ? undefined : ending.cancelSent());
    source.return().catch(() => {});
  }
}
