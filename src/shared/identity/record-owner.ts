/** Owners of records: a configuration file owns the records that it created, and each record has a key in that file. Pure. */
import { z } from 'zod';

/** Kinds of records that can have an owner, by their names in audit rows. */
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
    .meta({ description: 'Who manages the record' }),
  key: z.string().min(1).max(200).meta({ description: 'What the owner calls the record' }),
});
export type RecordOwner = z.infer<typeof OwnerSchema>;

/** Header of a write request that gives the record an owner. */
export const OWNER_HEADER = 'portico-owner';

/** Returns the header's value: `OWNER/KEY`, with the key encoded as in URLs. */
export const toOwnerHeader = ({ owner, key }: RecordOwner): string =>
  `${owner}/${encodeURIComponent(key)}`;

/** Returns the owner that a header's value names; undefined if the value is not valid. */
export function parseOwnerHeader(value: string): RecordOwner | undefined {
  const at = value.indexOf('/');
  try {
    const key = decodeURIComponent(value.slice(at + 1));
    return OwnerSchema.safeParse({ owner: value.slice(0, Math.max(at, 0)), key }).data;
  } catch {
    return undefined;
  }
}
