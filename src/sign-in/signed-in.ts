/** Who is signed in with a browser, and the interface through which pages know it. */
import type { Scope } from '../shared/identity/principal.ts';

export interface SignedIn {
  /** Id of the sign-in, not of the person. */
  id: string;
  principalId: string;
  /** The principal's name. */
  name: string;
  /** The scopes that it may hand on: those of the credential it came by, within its principal's. */
  scopes: readonly Scope[];
  /** The limits of the token it came by, in the form of tokens; null means no limits. */
  servers: string[] | null;
  tools: string[] | null;
  toolsets: string[] | null;
  /** The token it came by and ends with, else null. */
  tokenId: string | null;
  /** The identity it came by and ends with, else null. */
  identityId: string | null;
  /** The passkey it came by, in place of these, and ends with; else null. */
  passkeyId: string | null;
  /** Latest end of the grants it makes, in milliseconds since the epoch; null if there is none. */
  grantsUntil: number | null;
}

export interface SignIns {
  /** Returns who a browser is signed in as, by its cookie; undefined if nobody is. */
  of(request: Request, url: URL): Promise<SignedIn | undefined>;
}
