/**
 * An approval: what is known about one tool of a server, or about its instructions, and which definition of it is approved. Pure.
 *
 * States: `approved`: offered as approved. `pending`: new. `changed`: differs from the approved definition. `quarantined`: new, with a
 * misleading name. These last three are held and wait for a decision. `rejected`: held, and waits for nothing until it changes. `removed`:
 * gone at the server, but remembered.
 */
import { z } from 'zod';

export const APPROVAL_KINDS = ['tool', 'instructions'] as const;
export type ApprovalKind = (typeof APPROVAL_KINDS)[number];

export const APPROVAL_STATES = [
  'approved',
  'pending',
  'changed',
  'quarantined',
  'rejected',
  'removed',
] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** States in which a definition is held and waits for a decision. */
export const WAITING: readonly ApprovalState[] = ['pending', 'changed', 'quarantined'];

/** Why a name misleads: it has invisible characters, or it can be mistaken for an approved name. */
export const ReasonSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('hidden_characters') }),
  z.object({ kind: z.literal('look_alike'), serverId: z.string(), name: z.string() }),
]);
export type Reason = z.infer<typeof ReasonSchema>;

/** An approval without its definitions. */
export interface ApprovalRecord {
  /** Digest of server, kind and name. */
  id: string;
  kind: ApprovalKind;
  /** The server's own name for the tool; empty for instructions. */
  name: string;
  /** Comparison key: names that look alike have the same skeleton. */
  skeleton: string;
  state: ApprovalState;
  approvedFingerprint: string | null;
  /** Fingerprint of the definition that is held now. */
  heldFingerprint: string | null;
  /** Fingerprint of the definition that was last rejected. */
  rejectedFingerprint: string | null;
  reason: Reason | null;
  /** Milliseconds since the epoch. */
  firstSeenAt: number;
  changedAt: number;
}

/** How the definitions of a server get approved. */
export const ToolApprovalSchema = z.enum(['first', 'hold', 'trust']);
/**
 * `first` approves the definitions of the first discovery, `hold` none, `trust` all as they come. Definitions that are not approved are
 * held.
 */
export type ToolApproval = z.infer<typeof ToolApprovalSchema>;

/** Longest name that can have an approval, in characters; discovery leaves out tools with longer names. */
export const MAX_NAME_CHARS = 1_000;
/** Longest definition whose text is kept, in characters; of a longer definition only the fingerprint is kept. */
export const MAX_TEXT_CHARS = 250_000;
