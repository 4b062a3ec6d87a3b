/** Names of the objects that hold what a client has. Pure. */

/** Name of the object that holds a session's state. */
export function sessionOwner(sessionId: string): string {
  return `session:${sessionId}`;
}

/** Whether an object is that of a session. */
export function isSessionOwner(owner: string): boolean {
  return sessionOf(owner) !== undefined;
}

/** The session whose object this is, or undefined where it is none's. */
export function sessionOf(owner: string): string | undefined {
  const prefix = sessionOwner('');
  return owner.startsWith(prefix) ? owner.slice(prefix.length) : undefined;
}

/** Whose object it is: that of a session, or of a principal without one. */
export function whoseObject(owner: string): { sessionId: string } | { principalId: string } {
  const sessionId = sessionOf(owner);
  const [, principalId = ''] = owner.split(':');
  return sessionId === undefined ? { principalId } : { sessionId };
}

/**
 * Name of the object that holds what a principal without a session has at a server.
 * @param askable equal for clients that can be asked the same (`capabilitiesKey`)
 */
export function principalOwner(
  principalId: string,
  serverId: string,
  capabilitiesKey = '',
): string {
  return `principal:${principalId}:${serverId}${capabilitiesKey === '' ? '' : `:${capabilitiesKey}`}`;
}
