/** What a monitor remembers across its sleep of how its server is reached. */
import type { Aside } from './side-discoveries.ts';
import type { Negotiated } from './negotiate.ts';

/** What side discoveries found, and until when that holds, in milliseconds since the epoch. */
export interface KnownAside {
  aside: Aside;
  /** A hash of the lists that the first discovery had then. */
  lists: string;
  until: number;
  /** Whether a session of the other era was discovered. */
  wasAwake: boolean;
}

export interface KnownUpstream {
  /** Key of the address and credential that it was found with. */
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
