/** Accounts that a principal has at servers: whose credential its calls carry. Pure. */
import { z } from 'zod';

/** Whose account calls to a server use: the deployment's, each principal's own, or its own where it has one. */
export const AccountModeSchema = z.enum(['shared', 'per_principal', 'both']);
export type AccountMode = z.infer<typeof AccountModeSchema>;

/** An account as a call needs it. */
export const HeldAccountSchema = z.object({
  id: z.string(),
  serverId: z.string(),
  /** How it authenticates, in an envelope that is bound to the account and the server's origin. */
  sealed: z.string(),
  /** Counts its changes. */
  revision: z.number(),
});
export type HeldAccount = z.infer<typeof HeldAccountSchema>;
