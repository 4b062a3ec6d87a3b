/** Names of the objects that hold a client's state. Pure. */

/** Returns the name of the object that holds a session's state. */
export function sessionOwner(sessionId: string): string {
  return `session:${sessionId}`;
}

/** Whether an object belongs to a session. */
export function isSessionOwner(owner: string): boolean {
  return sessionOf(owner) !== undefined;
}

/** Returns the session that an object belongs to, or undefined if it belongs to none. */
export function sessionOf(owner: string): string | undefined {
  const prefix = sessionOwner('');
  return owner.startsWith(prefix) ? owner.slice(prefix.length) : undefined;
}

/** Returns the owner of an object: a session, or a principal without a session. */
export function whoseObject(owner: string): { sessionId: string } | { principalId: string } {
  const sessionId = sessionOf(owner);
  const [, principalId = ''] = owner.split(':');
  return sessionId === undefined ? { principalId } : { sessionId };
}

/**
 * Returns the name of the object that holds the state of a principal without a session at a server.
 * @param capabilitiesKey equal for clients that can answer the same server requests (see `capabilitiesKey` in `client-capabilities.ts`)
 */
export function principalOwner(
  principalId: string,
  serverId: string,
  capabilitiesKey = '',
): string {
  return `principal:${principalId}:${serverId}${capabilitiesKey === '' ? '' : `:${capabilitiesKey}`}`;
}
