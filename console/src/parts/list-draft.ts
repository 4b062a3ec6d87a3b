/** A list of short texts while it is edited, with text that is typed but not added yet; that counts too when the form is sent. Pure. */

export interface ListDraft {
  items: readonly string[];
  typed: string;
}

const BETWEEN = /[\s,]+/;

export const toDraft = (items: readonly string[]): ListDraft => ({ items, typed: '' });

/** All of them, without duplicates. */
export const itemsOf = ({ items, typed }: ListDraft): string[] => [
  ...new Set([...items, ...typed.split(BETWEEN).filter(part => part !== '')]),
];
