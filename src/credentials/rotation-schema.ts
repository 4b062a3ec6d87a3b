/** The API forms of key rotation. Keys themselves never appear. */
import { z } from 'zod';
import { SEALED_KINDS, type SealedKind } from './rotation-store.ts';

/** Body of `POST /api/v1/keys/rotate`. */
export const RotateSchema = z.strictObject({
  /** Maximum number of records in this request. */
  limit: z.number().int().min(1).max(200).default(50),
  /** `next` of the previous request; absent starts from the beginning. */
  cursor: z.string().max(200).nullable().optional(),
});
export type RotateInput = z.infer<typeof RotateSchema>;

export const RotatedSchema = z.object({
  active: z.string(),
  /** Total number of sealed records. */
  total: z.number().int(),
  /** Records that this request sealed again; a record edited meanwhile keeps its edit. */
  rotated: z.number().int(),
  /** Records that are not under the active key yet. */
  remaining: z.number().int(),
  /** Records that this request could not open. */
  unreadable: z.number().int(),
  /** Cursor for the next request; null at the end. */
  next: z.string().nullable(),
});
export type Rotated = z.infer<typeof RotatedSchema>;

export const KeysViewSchema = z.object({
  active: z.string(),
  keys: z.array(
    z.object({
      id: z.string(),
      /** False: what is sealed with it cannot be opened. */
      in_ring: z.boolean(),
      secrets: z.number().int(),
      servers: z.number().int(),
      access_tokens: z.number().int(),
      accounts: z.number().int(),
      tokens: z.number().int(),
    }),
  ),
  /** Sealed records that are not under the active key. */
  remaining: z.number().int(),
  /** Tokens whose HMAC is not under the active key; each moves when it is next used. */
  tokens_remaining: z.number().int(),
});
export type KeysView = z.infer<typeof KeysViewSchema>;

/** Builds the cursor after a record. */
export function toCursor({ kind, id }: { kind: SealedKind; id: string }): string {
  return `${kind}:${id}`;
}

/** Parses a cursor: an absent one means the beginning; undefined if it is invalid. */
export function parseCursor(
  cursor: string | null | undefined,
): { kind: SealedKind; id: string } | undefined {
  const [first] = SEALED_KINDS;
  if (cursor === null || cursor === undefined) return { kind: first, id: '' };
  const colon = cursor.indexOf(':');
  const kind = SEALED_KINDS.find(name => name === cursor.slice(0, colon));
  return kind && { kind, id: cursor.slice(colon + 1) };
}
