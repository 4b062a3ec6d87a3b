/**
 * What a monitor knows of its server beyond the first discovery (`side-discoveries.ts`). Side discoveries are repeated only if they may
 * find something else now: the first discovery found something else, their findings are in doubt, or they are old.
 */
import { sha256Hex } from '../../shared/crypto/base64url.ts';
import { KINDS } from '../../servers/catalog/catalog.ts';
import type { ServerProtocol } from '../../servers/registry/server-schema.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import type { Discovered, DiscoveryResult } from './discover.ts';
import type { KnownAside } from './known-upstream.ts';
import type { Negotiated } from './negotiate.ts';
import { ASLEEP, discoverAside, NOTHING_ASIDE, type Aside } from './side-discoveries.ts';

const NOTHING_KNOWN = { lists: '', until: 0, wasAwake: false };
/** After this time side discoveries are repeated in any case, in milliseconds. */
const OLD_MS = 600_000;
/** The same after side discoveries that failed. */
const FAILED_MS = 60_000;

export class SideView {
  readonly #endpoint: UpstreamEndpoint;
  readonly #maxBytes: number;
  #known: KnownAside;
  #negotiated: Negotiated | undefined;

  /** @param legacy what was known before of the server's legacy era */
  constructor(endpoint: UpstreamEndpoint, maxBytes: number, legacy: ServerProtocol['legacy']) {
    this.#endpoint = endpoint;
    this.#maxBytes = maxBytes;
    this.#known = { ...NOTHING_KNOWN, aside: { ...NOTHING_ASIDE, legacy } };
  }

  /** What is known now; another object after each side discovery. */
  get known(): KnownAside {
    return this.#known;
  }

  /** Goes on from what was known before, on this channel. */
  recall(negotiated: Negotiated, known: KnownAside): void {
    this.#negotiated = negotiated;
    this.#known = known;
  }

  doubt(): void {
    this.#negotiated = undefined;
  }

  /** @param first what the first discovery found on this channel */
  async beside(negotiated: Negotiated, first: Discovered): Promise<Aside> {
    const lists = await sha256Hex(`${first.items.tools.join()}\n${first.items.prompts.join()}`);
    const { aside: before, wasAwake, lists: lastLists, until } = this.#known;
    const isKnown = this.#negotiated === negotiated && lastLists === lists;
    if (isKnown && Date.now() < until) return before;
    // Lists that could not be read cannot be compared.
    if (first.failed.length > 0) return before;
    this.#negotiated = negotiated;
    const found = await discoverAside(this.#endpoint, negotiated, first, this.#maxBytes);
    // What was found while the program was awake still holds.
    const aside = found && !(found === ASLEEP && wasAwake) ? found : before;
    this.#known = {
      aside,
      lists,
      until: Date.now() + (found ? OLD_MS : FAILED_MS),
      wasAwake: found ? aside.legacyCapabilities !== undefined : wasAwake,
    };
    return aside;
  }
}

/** Returns a discovery together with what side discoveries found. */
export function withAside(discovery: DiscoveryResult, aside: Aside): DiscoveryResult {
  const { more, conditions, legacy, legacyCapabilities } = aside;
  const items = { ...discovery.items };
  for (const kind of KINDS) items[kind] = [...items[kind], ...(more[kind] ?? [])];
  const verdict =
    legacy && discovery.verdict.era === 'modern'
      ? { ...discovery.verdict, legacy }
      : discovery.verdict;
  return { ...discovery, items, verdict, conditions, legacyCapabilities };
}
