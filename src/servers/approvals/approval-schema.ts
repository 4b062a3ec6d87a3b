/** Approvals in the API: the bodies of decisions, and the views. Text from servers appears in values only, never in keys. */
import { z } from 'zod';
import { toVisible } from '../../shared/util/visible-text.ts';
import { diffDefinitions } from './definition-diff.ts';
import {
  MAX_NAME_CHARS,
  APPROVAL_KINDS,
  APPROVAL_STATES,
  type ApprovalRecord,
} from '../registry/approval.ts';
import type { ListedApproval, WholeApproval } from './approval-list-store.ts';
import { looksLikeAscii } from './skeleton.ts';

const MAX_ITEMS = 500;
const FingerprintSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'is not a fingerprint: 64 hexadecimal digits');
const IdSchema = z.string().max(100);

const ItemSchema = z.strictObject({
  server_id: IdSchema,
  kind: z.enum(APPROVAL_KINDS).default('tool'),
  name: z.string().max(MAX_NAME_CHARS).default('').meta({
    description: "The server's own name of the tool; nothing for instructions",
  }),
  fingerprint: FingerprintSchema.meta({ description: 'Of the definition that was reviewed' }),
});
export type DecisionItem = z.infer<typeof ItemSchema>;

const ItemsSchema = z.strictObject({
  items: z.array(ItemSchema).min(1).max(MAX_ITEMS),
});

/** Everything that waits at one server. */
const AllSchema = z.strictObject({
  server_id: IdSchema,
  version: z.string().min(1).max(100).meta({
    description: '`version` of the list that was reviewed; any change since then gives another one',
  }),
});

/** Body of `POST /api/v1/approvals/reject`. */
export const RejectSchema = z.union([ItemsSchema, AllSchema]);
export type Reject = z.infer<typeof RejectSchema>;

/** Body of `POST /api/v1/approvals/approve`. */
export const ApproveSchema = z.union([
  ItemsSchema.extend({
    accept_quarantined: z.boolean().default(false).meta({
      description: 'Approve a tool in spite of its name; it must be the only item',
    }),
  }).refine(({ items, accept_quarantined: accepts }) => !accepts || items.length === 1, {
    path: ['accept_quarantined'],
    message: 'a quarantined tool is approved alone: give one item',
  }),
  AllSchema,
]);
export type Approve = z.infer<typeof ApproveSchema>;

/** Response to a decision. */
export const DecidedSchema = z.object({
  decided: z.number().int().meta({ description: 'How many definitions were decided on' }),
  server_ids: z.array(z.string()),
});

const ReasonViewSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('hidden_characters') }),
  z.object({
    kind: z.literal('look_alike'),
    server_id: z.string(),
    name: z.string().meta({
      description:
        'The approved tool that it can be mistaken for; empty, as is its server, if it is outside the limits of the token',
    }),
  }),
]);

const time = z.iso.datetime();

/** An approval in a list. */
export const ApprovalViewSchema = z.object({
  id: z.string(),
  server_id: z.string(),
  server_name: z.string(),
  kind: z.enum(APPROVAL_KINDS),
  name: z.string(),
  shown_name: z.string().meta({ description: 'The name, with invisible characters made visible' }),
  state: z.enum(APPROVAL_STATES),
  reason: ReasonViewSchema.nullable().meta({ description: 'Why the name misleads' }),
  approved_fingerprint: z.string().nullable(),
  held_fingerprint: z.string().nullable(),
  first_seen_at: time,
  changed_at: time,
});

const ShownSchema = z.object({ json: z.string(), shown: z.string() }).meta({
  id: 'ShownValue',
  description: 'Raw JSON from the server, and the same in readable form',
});

/** An approval with its definitions and their differences. */
export const WholeApprovalViewSchema = ApprovalViewSchema.extend({
  approved_definition: z
    .string()
    .nullable()
    .meta({ description: 'Raw JSON as the server wrote it' }),
  held_definition: z.string().nullable(),
  diff: z
    .object({
      changes: z.array(
        z.object({
          path: z.string().meta({ description: 'A JSON pointer' }),
          before: ShownSchema.nullable(),
          after: ShownSchema.nullable(),
        }),
      ),
      more: z.number().int().meta({ description: 'Changes that are not in the list' }),
    })
    .nullable()
    .meta({
      description: 'From the approved definition to the held one; null if one is too long',
    }),
});

const toTime = (at: number): string => new Date(at).toISOString();

export function toApprovalView(approval: ListedApproval): z.infer<typeof ApprovalViewSchema> {
  return {
    id: approval.id,
    server_id: approval.serverId,
    server_name: approval.serverName,
    kind: approval.kind,
    name: approval.name,
    shown_name: toVisible(approval.name, looksLikeAscii, true),
    state: approval.state,
    reason: toReasonView(approval.reason),
    approved_fingerprint: approval.approvedFingerprint,
    held_fingerprint: approval.heldFingerprint,
    first_seen_at: toTime(approval.firstSeenAt),
    changed_at: toTime(approval.changedAt),
  };
}

function toReasonView(reason: ApprovalRecord['reason']): z.infer<typeof ReasonViewSchema> | null {
  if (reason?.kind !== 'look_alike') return reason;
  return { kind: reason.kind, server_id: reason.serverId, name: reason.name };
}

export function toWholeApprovalView(
  approval: WholeApproval,
): z.infer<typeof WholeApprovalViewSchema> {
  const { approvedText, heldText, approvedFingerprint, heldFingerprint } = approval;
  const isKept =
    (approvedText === null) === (approvedFingerprint === null) &&
    (heldText === null) === (heldFingerprint === null);
  const nothing = { changes: [], more: 0 };
  const diff = heldText === null ? nothing : diffDefinitions(approvedText, heldText);
  return {
    ...toApprovalView(approval),
    approved_definition: approvedText,
    held_definition: heldText,
    diff: isKept ? diff : null,
  };
}
