/**
 * An approval: what is known of one tool of a server, or of its instructions, and which definition of it is approved. Pure.
 *
 * States: `approved` is offered as it was approved; `pending` is new, `changed` another than the approved one, `quarantined` new with a
 * name that misleads: these three are held and wait for a decision; `rejected` is held and waits for nothing until it changes;
 * `removed` is gone at the server, and remembered.
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

/** Why a name misleads: it has characters that cannot be seen, or can be taken for an approved one. */
export const ReasonSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('hidden_characters') }),
  z.object({ kind: z.literal('look_alike'), serverId: z.string(), name: z.string() }),
]);
export type Reason = z.infer<typeof ReasonSchema>;

/** What may be told of an approval without its definitions. */
export interface ApprovalRecord {
  /** Digest of server, kind and name. */
  id: string;
  kind: ApprovalKind;
  /** The server's own name; empty for instructions. */
  name: string;
  /** What the name looks like. */
  skeleton: string;
  state: ApprovalState;
  approvedFingerprint: string | null;
  /** Of what is held now. */
  heldFingerprint: string | null;
  /** Of the definition that was last rejected. */
  rejectedFingerprint: string | null;
  reason: Reason | null;
  /** Milliseconds since the epoch. */
  firstSeenAt: number;
  changedAt: number;
}

/** How the definitions of a server are approved. */
export const ToolApprovalSchema = z.enum(['first', 'hold', 'trust']);
/** `first`: those of the first discovery are; `hold`: none is; `trust`: all are, as they come. What is not approved is held. */
export type ToolApproval = z.infer<typeof ToolApprovalSchema>;

/** Longest name that can have an approval, in characters; discovery leaves out tools with longer ones. */
export const MAX_NAME_CHARS = 1_000;
/** Longest definition whose text is kept, in characters; of a longer one only the fingerprint is. */
export const MAX_TEXT_CHARS = 250_000;
