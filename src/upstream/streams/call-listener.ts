/**
 * A call's part in what its server says on a notification stream: questions and news that belong to it,
 * beside those on the call's own stream. A reply and a listener become one stream of messages.
 */
import { AsyncQueue } from '../../shared/util/async-queue.ts';
import type { JsonObject } from '../../shared/protocol.ts';
import { canBeAsked } from '../../shared/client-capabilities.ts';
import type { Reply } from '../exchange.ts';
import type { UpstreamMessage } from '../protocol/message.ts';
import type { SharedStream } from './shared-stream.ts';

export interface CallListener {
  /** The next message, or undefined where nothing more will come. For one reader at a time. */
  take(): Promise<UpstreamMessage | undefined>;
  /**
   * The call is over.
   * @param told settles when the server knows; absent where it answered
   */
  close(told?: Promise<unknown>): void;
}

/** What is to be known of a call that listens. */
export interface ListenerTerms {
  /** What its client can be asked. */
  capabilities: JsonObject;
  /** Raw JSON of the call's progress token. */
  progressToken: string | undefined;
}

/** A listener at a stream that is at hand. */
export function joinStream(stream: SharedStream, terms: ListenerTerms): CallListener {
  const messages = new AsyncQueue<UpstreamMessage>();
  const listener = {
    progressToken: terms.progressToken,
    canBeAsked: (method: string) => canBeAsked(terms.capabilities, method),
    put: (message: UpstreamMessage) => messages.put(message),
  };
  stream.join(listener);
  return {
    take: () => messages.take(),
    close(told) {
      stream.leave(listener, told);
      messages.end();
    },
  };
}

/** How to end a request that is under way. */
export interface Ending {
  /** Hang up; the server is told. */
  stop(): void;
  /** Settles when the server has been told. */
  told(): Promise<void>;
}

type Step = { own: IteratorResult<UpstreamMessage, void> } | { heard: UpstreamMessage | undefined };

/**
 * The reply where it comes whole and nothing was heard before, else a reply with all messages. The
 * listener is closed with either; where this throws, it is the caller's to close.
 */
export async function withHeard(replying: Promise<Reply>, listener: CallListener, ending: Ending) {
  const heard = listener.take();
  const first = await Promise.race([replying, heard]);
  // Nothing will be heard any more: the reply is all there is.
  const whole = first ?? (await replying);
  if ('headers' in whole && (whole.response || !first)) {
    listener.close();
    return whole;
  }
  const messages = merged(messagesOf(replying), heard, listener, ending);
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
  heard: Promise<UpstreamMessage | undefined>,
  listener: CallListener,
  ending: Ending,
): AsyncGenerator<UpstreamMessage, void, undefined> {
  const next = (): Promise<Step> => source.next().then(own => ({ own }));
  const listen = (taking = listener.take()): Promise<Step> =>
    taking.then(message => ({ heard: message }));
  let isOver = false;
  let own = next();
  let hearing: Promise<Step> | undefined = listen(heard);
  try {
    for (;;) {
      const step: Step = await Promise.race(hearing ? [own, hearing] : [own]);
      if ('heard' in step) {
        hearing = step.heard ? listen() : undefined;
        if (step.heard) yield step.heard;
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
    listener.close(isOver ? undefined : ending.told());
    source.return().catch(() => {});
  }
}
