/**
 * Text for people who must see every character in it: characters that are invisible, change the direction of others or imitate a letter of
 * another script become `⟨U+200B⟩`. For display only: the result is never parsed. Pure.
 */

/** Characters that are invisible, or move their neighbours. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Spaces that look like the usual one, and the bracket that marks begin with. */
const DISGUISED = /[^\S ]|⟨/u;
const LAYOUT = /[\n\t]/;
const RUN = /[^\s\p{P}]+|[\s\p{P}]/gu;
const LETTER = /[\p{L}\p{N}]/u;
const IS_ASCII = /^[\0-\x7f]$/;
/** Text without anything to mark, as nearly all is. */
const IS_PLAIN = /^[ -~]*$/;

/** Whether a text contains an invisible character. */
export function hasHidden(text: string): boolean {
  return HIDDEN.test(text);
}

/**
 * @param isLookAlike whether a character outside ASCII looks like one inside; it is marked if its word has both
 * @param isName the text is one name: line feeds, tabs, every look-alike and everything that is neither ASCII nor a letter are marked too
 */
export function toVisible(
  text: string,
  isLookAlike: (character: string) => boolean,
  isName = false,
): string {
  const isOdd = (character: string, isMixed: boolean) => {
    if (!isName && LAYOUT.test(character)) return false;
    if (HIDDEN.test(character) || DISGUISED.test(character)) return true;
    if (!isMixed || IS_ASCII.test(character)) return false;
    return isLookAlike(character) || (isName && !LETTER.test(character));
  };
  if (IS_PLAIN.test(text)) return text;
  return text.replaceAll(RUN, run => {
    if (IS_PLAIN.test(run)) return run;
    const isMixed = isName || /[A-Za-z]/.test(run);
    return Array.from(run, one => (isOdd(one, isMixed) ? toMark(one) : one)).join('');
  });
}

const toMark = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;
