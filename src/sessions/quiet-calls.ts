/**
 * Which calls need the notification stream of their session before they leave. A server may put what
 * belongs to a call there, and drops it where nobody listens; most never do. A tool that said nothing
 * there in its last calls is called without the stream at first; one of a server that was heard
 * there never is. Known to this isolate only, so that another one begins on the safe side.
 */
import { capabilitiesKey } from '../shared/client-capabilities.ts';
import type { JsonObject } from '../shared/protocol.ts';
import { Lru } from '../shared/util/lru.ts';
import type { CallListener } from '../upstream/streams/call-listener.ts';

/** So many calls in a row have to be quiet. */
const ENOUGH = 5;
const MAX_TOOLS = 20_000;
const MAX_SERVERS = 5_000;

/** What is called, and what its client can be asked: of clients that can be asked other things, other calls are quiet. */
export interface Called {
  serverId: string;
  what: string;
  capabilities: JsonObject;
}

const keyOf = ({ serverId, what, capabilities }: Called) =>
  JSON.stringify([serverId, what, capabilitiesKey(capabilities)]);

export class QuietCalls {
  readonly #quiet = new Lru<string, number>(MAX_TOOLS);
  readonly #talking = new Lru<string, true>(MAX_SERVERS);

  /** Whether such a call may leave before the stream is open. */
  has(called: Called): boolean {
    if (this.#talking.get(called.serverId)) return false;
    return (this.#quiet.get(keyOf(called)) ?? 0) >= ENOUGH;
  }

  /** The same listener, of which is noted whether anything is heard. */
  noting(called: Called, listener: CallListener): CallListener {
    const key = keyOf(called);
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
        this.#quiet.set(key, told ? 0 : (this.#quiet.get(key) ?? 0) + 1);
      },
    };
  }
}
