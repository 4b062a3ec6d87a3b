/**
 * Removes certain characters from the end of a text. An expression such as `/_+$/` tries each run of them in a text,
 * and takes time quadratic in a run. Pure.
 */

/** @param characters the characters to remove */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
