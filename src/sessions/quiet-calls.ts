/**
 * Decides which calls need the notification stream of their session before they leave, or an object that makes them. A server may send
 * messages that belong to a call on that stream, and drops them where nobody listens; most servers never do. A tool whose last calls sent
 * nothing there is called without the stream at first, unless its server has ever sent something there. A tool that sent nothing but its
 * result, to a client that answers with its next request, is called by the Worker itself. Kept in this isolate only; a new isolate starts
 * with the safe choice.
 */
import { capabilitiesKey } from '../shared/client-capabilities.ts';
import { Lru } from '../shared/util/lru.ts';
import type { CallContext, CallMessages } from '../upstream/protocol/call.ts';
import type { CallListener } from '../upstream/streams/call-listener.ts';

/** Number of successive quiet calls after which a tool counts as quiet. */
const ENOUGH = 5;
const MAX_TOOLS = 20_000;
const MAX_SERVERS = 5_000;

/** Identifies what is called. */
export interface Called {
  serverId: string;
  /** Equal for all calls of one kind. */
  key: string;
}

/**
 * @param what is called at the server
 * @param context of the call: whether a call is quiet depends on what its client can be asked, and how
 */
export function toCalled(
  serverId: string,
  what: string,
  { capabilities, questions }: Pick<CallContext, 'capabilities' | 'questions'>,
): Called {
  return { serverId, key: `${serverId} ${questions} ${capabilitiesKey(capabilities)} ${what}` };
}

export class QuietCalls {
  readonly #quiet = new Lru<string, number>(MAX_TOOLS);
  readonly #talking = new Lru<string, true>(MAX_SERVERS);

  /** Whether such a call may leave before the stream is open. */
  has({ serverId, key }: Called): boolean {
    if (this.#talking.get(serverId)) return false;
    return (this.#quiet.get(key) ?? 0) >= ENOUGH;
  }

  /** Notes that a call ended quietly, or did not, or cannot be counted as quiet. */
  note({ key }: Called, isQuiet: boolean): void {
    this.#quiet.set(key, isQuiet ? (this.#quiet.get(key) ?? 0) + 1 : 0);
  }

  /** Yields the messages of a call, and notes whether there was nothing but its result. */
  async *notingMessages(called: Called, messages: CallMessages): CallMessages {
    let isQuiet = false;
    let count = 0;
    try {
      for await (const message of messages) {
        count += 1;
        isQuiet =
          count === 1 &&
          message.kind === 'response' &&
          'result' in message &&
          message.parsed['resultType'] !== 'input_required';
        yield message;
      }
    } finally {
      this.note(called, isQuiet);
    }
  }

  /** Returns the same listener, and notes whether it gets any message. */
  noting(called: Called, listener: CallListener): CallListener {
    let hasMessage = false;
    return {
      take: async () => {
        const message = await listener.take();
        if (message && !hasMessage) {
          hasMessage = true;
          this.#talking.set(called.serverId, true);
        }
        return message;
      },
      close: cancelSent => {
        listener.close(cancelSent);
        // A failed call may have waited for an answer to a request that nobody received.
        this.note(called, cancelSent === undefined);
      },
    };
  }
}
