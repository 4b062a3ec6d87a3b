/** What passes between isolates that send accounts and the objects that renew them. */
import type { FreshToken } from '../../shared/identity/account.ts';

/** What somebody has who wants another token. */
export interface Held {
  accountId: string;
  serial: number;
  /** The server refused it. */
  isRefused: boolean;
}

/** What the object answers to an isolate, to which an error cannot be thrown. */
export type AccountTokenReply =
  { token: FreshToken } | { failure: string; code: 'account_required' | 'credential_unavailable' };
