/** Text that somebody else wrote, as text: what shows nothing or turns what is beside it is shown as `⟨U+202E⟩`, and long text is cut. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const LAYOUT = /[\n\t]/;
const MAX_CHARS = 4_000;

const toMark = (character: string): string =>
  LAYOUT.test(character)
    ? character
    : `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** The text with what is hidden in it, at most `max` characters of it. */
export function toShown(text: string, max = MAX_CHARS): string {
  const shown = text.length > max ? `${text.slice(0, max)}…` : text;
  return shown.replaceAll(HIDDEN, toMark);
}

export const Foreign = ({ text, max }: { text: string; max?: number }) => (
  <bdi class="foreign">{toShown(text, max)}</bdi>
);
