/** Cuts a text to this many UTF-16 units: a longer one ends with `…`, and never with half of a character. */
export const shortened = (text: string, maxChars: number): string =>
  text.length <= maxChars
    ? text
    : `${text.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
