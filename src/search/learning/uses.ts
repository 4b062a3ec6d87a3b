/** Uses of tools after searches, as written and as read. Types only. */

/** A use to be written. */
export interface NewUse {
  /** Id of the tool's approval, and fingerprint of its definition as it was called. */
  approvalId: string;
  fingerprint: string;
  /** Keyed digest. */
  word: string;
  principalId: string;
  /** UTC days since the epoch. */
  day: number;
}

/** A use as searches read it. */
export interface LearnedUse {
  serverId: string;
  tool: string;
  /** Of the tool's server. */
  catalogHash: string | null;
  word: string;
  principalId: string;
  day: number;
}
