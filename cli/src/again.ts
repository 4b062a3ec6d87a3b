/** Parser of an option that may be repeated: each use adds a value. */
export const again = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  value,
];
