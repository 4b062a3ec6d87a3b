/**
 * Which calls need the notification stream of their session before they leave, or an object that makes
 * them. A server may put what belongs to a call on that stream, and drops it where nobody listens;
 * most never do. A tool that said nothing there in its last calls is called without the stream at
 * first; one of a server that was heard there never is. And a tool that said nothing but its answer
 * to a client that answers with its next request is called by the Worker itself. Known to this isolate
 * only, so that another one begins on the safe side.
 */
import { capabilitiesKey } from '../shared/client-capabilities.ts';
import { Lru } from '../shared/util/lru.ts';
import type { CallContext, CallMessages } from '../upstream/protocol/call.ts';
import type { CallListener } from '../upstream/streams/call-listener.ts';

/** So many calls in a row have to be quiet. */
const ENOUGH = 5;
const MAX_TOOLS = 20_000;
const MAX_SERVERS = 5_000;

/** What is called. */
export interface Called {
  serverId: string;
  /** Of all calls that are alike. */
  key: string;
}

/**
 * @param what is called at the server
 * @param context of the call: of clients that can be asked other things, or in another way, other calls are quiet
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

  /** A call has ended, or cannot be taken for quiet. */
  note({ key }: Called, isQuiet: boolean): void {
    this.#quiet.set(key, isQuiet ? (this.#quiet.get(key) ?? 0) + 1 : 0);
  }

  /** The messages of a call, of which is noted whether there was nothing but its result. */
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

  /** The same listener, of which is noted whether anything is heard. */
  noting(called: Called, listener: CallListener): CallListener {
    let isHeard = false;
    return {
      take: async () => {
        const message = await listener.take();
        if (message && !isHeard) {
          isHeard = true;
          this.#talking.set(called.serverId, true);
        }
        return message;
      },
      close: told => {
        listener.close(told);
        // A call that failed may have waited for an answer to what nobody heard.
        this.note(called, told === undefined);
      },
    };
  }
}
