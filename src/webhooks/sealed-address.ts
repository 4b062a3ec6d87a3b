/** Where a webhook sends, and by what it signs: one sealed text, bound to the webhook and the origin it was given for. */
import { z } from 'zod';
import { openEnvelope, sealEnvelope, type Place } from '../shared/crypto/envelope.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';

const TargetSchema = z.object({
  url: z.string(),
  secret: z.string(),
  /** The secret before it, and until when it signs too. */
  former: z.object({ secret: z.string(), until: z.number() }).optional(),
});
export type Target = z.infer<typeof TargetSchema>;

/** A webhook, as its target is bound to it. */
export interface Bound {
  id: string;
  origin: string;
}

const placeOf = ({ id, origin }: Bound): Place => ({
  kind: 'webhook',
  id,
  field: 'target',
  origin,
});

export const sealTarget = (keys: KeyRing, bound: Bound, target: Target): Promise<string> =>
  sealEnvelope(keys, JSON.stringify(target), placeOf(bound));

/** The target, or undefined where it does not belong here or its key is gone. */
export async function openTarget(
  keys: KeyRing,
  webhook: Bound & { sealed: string },
): Promise<Target | undefined> {
  const text = await openEnvelope(keys, webhook.sealed, placeOf(webhook));
  return text === undefined ? undefined : TargetSchema.parse(JSON.parse(text));
}

/** The secrets that sign now. @param now milliseconds since the epoch */
export const secretsOf = ({ secret, former }: Target, now: number): string[] =>
  former !== undefined && former.until > now ? [secret, former.secret] : [secret];
