/** The forms of key rotation in the API. Keys themselves never appear. */
import { z } from 'zod';
import { SEALED_KINDS, type SealedKind } from './rotation-store.ts';

/** Body of `POST /api/v1/keys/rotate`. */
export const RotateSchema = z.strictObject({
  /** Records of this request. */
  limit: z.number().int().min(1).max(200).default(50),
  /** `next` of the request before; absent begins anew. */
  cursor: z.string().max(200).nullable().optional(),
});
export type RotateInput = z.infer<typeof RotateSchema>;

export const RotatedSchema = z.object({
  active: z.string(),
  /** Sealed records there are. */
  total: z.number().int(),
  /** Those that this request sealed anew; one that was edited meanwhile keeps its edit. */
  rotated: z.number().int(),
  /** Those that are not under it yet. */
  remaining: z.number().int(),
  /** Those that this request could not open. */
  unreadable: z.number().int(),
  /** Where to go on; null at the end. */
  next: z.string().nullable(),
});
export type Rotated = z.infer<typeof RotatedSchema>;

export const KeysViewSchema = z.object({
  active: z.string(),
  keys: z.array(
    z.object({
      id: z.string(),
      /** False: what is under it cannot be opened. */
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
  /** Tokens whose HMAC is not under the active key; each moves when it is used. */
  tokens_remaining: z.number().int(),
});
export type KeysView = z.infer<typeof KeysViewSchema>;

/** Where to go on behind a record. */
export function toCursor({ kind, id }: { kind: SealedKind; id: string }): string {
  return `${kind}:${id}`;
}

/** The place a cursor names; the beginning where there is none, undefined where it is not valid. */
export function parseCursor(
  cursor: string | null | undefined,
): { kind: SealedKind; id: string } | undefined {
  const [first] = SEALED_KINDS;
  if (cursor === null || cursor === undefined) return { kind: first, id: '' };
  const colon = cursor.indexOf(':');
  const kind = SEALED_KINDS.find(name => name === cursor.slice(0, colon));
  return kind && { kind, id: cursor.slice(colon + 1) };
}
