/** Uses of tools after searches, as they are written and read. Types only. */

/** A use that is to be written. */
export interface NewUse {
  /** Of the tool's definition, as it was called. */
  approvalId: string;
  fingerprint: string;
  /** Keyed digest. */
  word: string;
  principalId: string;
  /** UTC, counted since the epoch. */
  day: number;
}

/** A use as searches take it. */
export interface LearnedUse {
  serverId: string;
  tool: string;
  /** Of its server. */
  catalogHash: string | null;
  word: string;
  principalId: string;
  day: number;
}
