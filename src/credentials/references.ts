/**
 * References to named secrets in texts of a configuration: `${NAME}` stands for the value of a secret, `$${` for the two
 * characters `${`. Any other `${` is a mistake, never a literal. Pure.
 */

/** What a secret can be called. */
export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

const PART = /\$\$\{|\$\{([A-Z][A-Z0-9_]{0,63})\}|\$\{/g;
const ONLY_REFERENCES = /^(?:(?:bearer|basic|token) )?(?:\$\{[A-Z][A-Z0-9_]{0,63}\})+$/i;

/** The names a text refers to, or undefined where a `${` of it is no reference. */
export function namesIn(text: string): string[] | undefined {
  const names = new Set<string>();
  for (const [part, name] of text.matchAll(PART)) {
    if (part === '${') return undefined;
    if (name !== undefined) names.add(name);
  }
  return [...names];
}

/** The text with values in place of references, or undefined where a value is missing. */
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

/** A text that means itself, as one that is filled. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** The text where it holds references and at most an authentication scheme, so that it may be shown; else null. */
export function showReferences(text: string): string | null {
  return ONLY_REFERENCES.test(text) && namesIn(text) !== undefined ? text : null;
}
