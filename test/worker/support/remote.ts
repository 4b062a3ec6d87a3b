/** Bindings that count their requests (`bench/edge/worker/`), and whose responses a test can hold back. */
import { env } from 'cloudflare:workers';
import { Ledger } from '../../../bench/edge/worker/ledger.ts';
import { meterEnv } from '../../../bench/edge/worker/metered-env.ts';

const BINDINGS = [
  'DB',
  'CATALOG',
  'AUDIT_LOG',
  'CALL_CHAIN',
  'CLIENT_SESSION',
  'SERVER_MONITOR',
] as const;
type Settings = Record<`PORTICO_${string}`, string>;

export interface Remote {
  /** With the settings of the Worker. */
  bindings: Pick<Env, (typeof BINDINGS)[number]> & Settings;
  ledger: Ledger;
  /** Requests to stores and objects, in order: `DB.batch`, `CATALOG.get`, `AUDIT_LOG.begin`. */
  asked: string[];
  /** From now on no request is answered, until this is reversed. */
  setSilent(isSilent: boolean): void;
  /**
   * Makes a request and holds back every response until nothing continues without one; then releases all of them at once.
   * @param hasLeft whether the request has reached its server
   * @returns how often that was necessary before the request was sent, and after that, until it was answered
   */
  countHops(
    make: () => Promise<unknown>,
    hasLeft: () => boolean,
  ): Promise<{ before: number; after: number }>;
}

/** Turns of the event loop after which everything that needs no remote response has run. */
const TURNS = 40;

async function turns(): Promise<void> {
  for (let n = 0; n < TURNS; n += 1) await scheduler.wait(1);
}

/** @param settings of the Worker */
export function createRemote(settings: Settings = {}): Remote {
  const ledger = new Ledger();
  const metered = meterEnv(env, ledger);
  const own = Object.fromEntries(BINDINGS.map(name => [name, metered[name]]));
  const never = new Promise<void>(() => {});
  let silence: Promise<void> | undefined;
  ledger.hold = () => silence;
  return {
    bindings: { ...own, ...settings } as Remote['bindings'],
    ledger,
    asked: ledger.asked,
    setSilent: isSilent => (silence = isSilent ? never : undefined),
    async countHops(make, hasLeft) {
      const hops = { before: 0, after: 0 };
      let isAnswered = false;
      let kept = Promise.withResolvers<void>();
      silence = kept.promise;
      ledger.asked.length = 0;
      const answering = make().finally(() => (isAnswered = true));
      for (;;) {
        await turns();
        if (isAnswered) break;
        if (ledger.asked.length === 0) continue;
        hops[hasLeft() ? 'after' : 'before'] += 1;
        ledger.asked.length = 0;
        const { resolve } = kept;
        kept = Promise.withResolvers<void>();
        silence = kept.promise;
        resolve();
      }
      silence = undefined;
      kept.resolve();
      await answering;
      return hops;
    },
  };
}
