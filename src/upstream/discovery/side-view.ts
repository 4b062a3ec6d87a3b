/**
 * What a monitor knows of its server beside the first look (`side-discoveries.ts`), looked for again only where that may differ now: what
 * the first look found is another thing, somebody doubts it, or it is old.
 */
import { KINDS } from '../../servers/catalog/catalog.ts';
import type { Verdict } from '../../servers/registry/server-schema.ts';
import type { UpstreamEndpoint } from '../endpoint.ts';
import type { Discovered, DiscoveryResult } from './discover.ts';
import type { Negotiated } from './negotiate.ts';
import { ASLEEP, lookAside, NOTHING_ASIDE, type Aside } from './side-discoveries.ts';

/** After this time it is looked for again in any case, in milliseconds. */
const OLD_MS = 600_000;
/** After this time where looking failed. */
const FAILED_MS = 60_000;

export class SideView {
  readonly #endpoint: UpstreamEndpoint;
  readonly #maxBytes: number;
  #aside: Aside;
  /** A session of the other era was looked at. */
  #wasAwake = false;
  #of: { negotiated: Negotiated; lists: string; until: number } | undefined;

  /** @param legacy what was known of the server's legacy era before */
  constructor(endpoint: UpstreamEndpoint, maxBytes: number, legacy: Verdict['legacy']) {
    this.#endpoint = endpoint;
    this.#maxBytes = maxBytes;
    this.#aside = { ...NOTHING_ASIDE, legacy };
  }

  doubt(): void {
    this.#of = undefined;
  }

  /** @param first what the first look found in this channel */
  async beside(negotiated: Negotiated, first: Discovered): Promise<Aside> {
    const lists = `${first.items.tools.join()}\n${first.items.prompts.join()}`;
    const known = this.#of;
    const isKnown = known?.negotiated === negotiated && known.lists === lists;
    if (isKnown && Date.now() < known.until) return this.#aside;
    // With what could not be listed nothing can be compared.
    if (first.failed.length > 0) return this.#aside;
    const of = { negotiated, lists, until: Date.now() + OLD_MS };
    this.#of = of;
    const found = await lookAside(this.#endpoint, negotiated, first, this.#maxBytes);
    // What was found while it was awake is true still.
    if (found && !(found === ASLEEP && this.#wasAwake)) this.#aside = found;
    if (found) this.#wasAwake = this.#aside.legacyCapabilities !== undefined;
    else of.until = Date.now() + FAILED_MS;
    return this.#aside;
  }
}

/** What a look found, with what was found beside. */
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
