/** A webhook's address and signing secret: one sealed text, bound to the webhook and to the origin it was set for. */
import { z } from 'zod';
import { openEnvelope, sealEnvelope, type Place } from '../shared/crypto/envelope.ts';
import type { KeyRing } from '../shared/crypto/key-ring.ts';

const TargetSchema = z.object({
  url: z.string(),
  secret: z.string(),
  /** The previous secret, and until when it also signs. */
  former: z.object({ secret: z.string(), until: z.number() }).optional(),
});
export type Target = z.infer<typeof TargetSchema>;

/** The identity that a target is bound to. */
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

/** Opens the target; undefined where it is bound to another webhook or origin, or its key is gone. */
export async function openTarget(
  keys: KeyRing,
  webhook: Bound & { sealed: string },
): Promise<Target | undefined> {
  const text = await openEnvelope(keys, webhook.sealed, placeOf(webhook));
  return text === undefined ? undefined : TargetSchema.parse(JSON.parse(text));
}

/** Returns the secrets that sign now. @param now milliseconds since the epoch */
export const secretsOf = ({ secret, former }: Target, now: number): string[] =>
  former !== undefined && former.until > now ? [secret, former.secret] : [secret];
