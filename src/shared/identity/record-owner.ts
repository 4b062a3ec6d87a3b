/** Owners of records: a file of configuration keeps the records that it made, and each has a key in it. Pure. */
import { z } from 'zod';

/** Records that can have an owner, as audit rows call them. */
export const OWNED_KINDS = [
  'secret',
  'connector',
  'server',
  'principal',
  'rule',
  'budget',
  'toolset',
  'cache_rule',
  'ask_allowlist',
] as const;
export type OwnedKind = (typeof OWNED_KINDS)[number];

export const OwnerSchema = z.strictObject({
  owner: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'use 1 to 63 of a-z, 0-9, "-" or "_"')
    .meta({ description: 'Who keeps the record' }),
  key: z.string().min(1).max(200).meta({ description: 'What the owner calls the record' }),
});
export type RecordOwner = z.infer<typeof OwnerSchema>;

/** The header of a write whose record shall belong to an owner. */
export const OWNER_HEADER = 'portico-owner';

/** The header's value: `OWNER/KEY`, the key as in URLs. */
export const toOwnerHeader = ({ owner, key }: RecordOwner): string =>
  `${owner}/${encodeURIComponent(key)}`;

/** The owner that a header's value names; undefined where it names none. */
export function parseOwnerHeader(value: string): RecordOwner | undefined {
  const at = value.indexOf('/');
  try {
    const key = decodeURIComponent(value.slice(at + 1));
    return OwnerSchema.safeParse({ owner: value.slice(0, Math.max(at, 0)), key }).data;
  } catch {
    return undefined;
  }
}
