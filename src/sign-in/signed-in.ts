/** Who is signed in with a browser, and the interface by which pages know it. */
import type { Scope } from '../shared/identity/principal.ts';

export interface SignedIn {
  /** Of the sign-in, not of the person. */
  id: string;
  principalId: string;
  /** The principal's name. */
  name: string;
  /** What it may hand on: the scopes of what it signed in by, within its principal's. */
  scopes: readonly Scope[];
  /** The limits of the token it signed in by, as tokens have them; null: none. */
  servers: string[] | null;
  tools: string[] | null;
  toolsets: string[] | null;
  /** The token it signed in by, whose end is its end; null where it came by something else. */
  tokenId: string | null;
  /** The identity it signed in by, whose end is its end; null where it came by something else. */
  identityId: string | null;
  /** The passkey that brought these back, whose end is its end too; else null. */
  passkeyId: string | null;
  /** What it hands on ends then at the latest, in milliseconds since the epoch; null: no such end. */
  grantsUntil: number | null;
}

export interface SignIns {
  /** Who a browser is signed in as, by its cookie; undefined where nobody is. */
  of(request: Request, url: URL): Promise<SignedIn | undefined>;
}
