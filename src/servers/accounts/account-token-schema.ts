/** Messages between isolates that send account tokens and the objects that renew them. */
import type { FreshToken } from '../../shared/identity/account.ts';

/** The token that the requesting isolate has. */
export interface Held {
  accountId: string;
  serial: number;
  /** The server refused that token. */
  isRefused: boolean;
}

/** The object's reply to an isolate. Failures are values, because an error cannot be thrown across the call. */
export type AccountTokenReply =
  { token: FreshToken } | { failure: string; code: 'account_required' | 'credential_unavailable' };
