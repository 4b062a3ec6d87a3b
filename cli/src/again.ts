/** An option that may be given again: each time one value more. */
export const again = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  value,
];
