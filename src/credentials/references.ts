/**
 * References to named secrets in configuration texts: `${NAME}` stands for the value of a secret, `$${` for the two characters `${`. Any
 * other `${` is an error, never a literal. Pure.
 */

export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

const PART = /\$\$\{|\$\{([A-Z][A-Z0-9_]{0,63})\}|\$\{/g;
const ONLY_REFERENCES = /^(?:(?:bearer|basic|token) )?(?:\$\{[A-Z][A-Z0-9_]{0,63}\})+$/i;

/** Lists the names that a text refers to; undefined if it has a `${` that is not a reference. */
export function namesIn(text: string): string[] | undefined {
  const names = new Set<string>();
  for (const [part, name] of text.matchAll(PART)) {
    if (part === '${') return undefined;
    if (name !== undefined) names.add(name);
  }
  return [...names];
}

/** Replaces references by values; undefined if a value is missing. */
export function fillReferences(
  text: string,
  valueOf: (name: string) => string | undefined,
): string | undefined {
  let isWhole = true;
  const filled = text.replaceAll(PART, (part, name: string | undefined) => {
    if (part === '$${') return '${';
    const value = name === undefined ? undefined : valueOf(name);
    isWhole &&= value !== undefined;
    return value ?? '';
  });
  return isWhole ? filled : undefined;
}

/** Escapes a text so that filling it returns the text itself. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Returns the text if it consists of references and at most an authentication scheme, so that it may be shown; else null. */
export function showReferences(text: string): string | null {
  return ONLY_REFERENCES.test(text) && namesIn(text) !== undefined ? text : null;
}
