/** Maps an object's members by name, safe for names with a special meaning such as `__proto__`. Pure. */
export function mapMembers(
  members: Readonly<Record<string, unknown>>,
  change: (value: unknown) => unknown,
): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(members)) setMember(made, key, change(value));
  return made;
}

/** Sets a member, whatever its name. */
export function setMember(members: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(members, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}
