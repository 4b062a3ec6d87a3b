/**
 * Outside text, shown as plain text: characters that are invisible or change text direction are shown as `⟨U+202E⟩`, and long text is cut.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const LAYOUT = /[\n\t]/;
const MAX_CHARS = 4_000;

const toMark = (character: string): string =>
  LAYOUT.test(character)
    ? character
    : `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Returns at most `max` characters of the text, with hidden characters made visible. */
export function toShown(text: string, max = MAX_CHARS): string {
  const shown = text.length > max ? `${text.slice(0, max)}…` : text;
  return shown.replaceAll(HIDDEN, toMark);
}

export const Foreign = ({ text, max }: { text: string; max?: number }) => (
  <bdi class="foreign">{toShown(text, max)}</bdi>
);
