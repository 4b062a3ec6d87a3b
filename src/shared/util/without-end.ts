/** A text without certain characters at its end. An expression such as `/_+$/` looks at each run of them in a text, and takes time with its square. Pure. */

/** @param characters which ones are taken off */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
