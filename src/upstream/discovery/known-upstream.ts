/** What a monitor remembers of how its server is reached, over its own sleep. */
import type { Aside } from './side-discoveries.ts';
import type { Negotiated } from './negotiate.ts';

/** What was found beside the first look, and until when that holds, in milliseconds. */
export interface KnownAside {
  aside: Aside;
  /** A hash of the lists it was found beside. */
  lists: string;
  until: number;
  /** A session of the other era was looked at. */
  wasAwake: boolean;
}

export interface KnownUpstream {
  /** Of the address and credential it was found with. */
  credentialKey: string;
  negotiatedAt: number;
  negotiated: Omit<Negotiated, 'channel'>;
  aside?: KnownAside | undefined;
}

export interface WatchMemory {
  find(credentialKey: string): Promise<KnownUpstream | undefined>;
  keep(known: KnownUpstream): Promise<void>;
  /** Forgets at once, though the promise settles later. */
  drop(): Promise<void>;
}
