/** Several short texts while somebody edits them, with what is typed and not added yet: that counts too where one goes on. Pure. */

export interface ListDraft {
  items: readonly string[];
  typed: string;
}

const BETWEEN = /[\s,]+/;

export const toDraft = (items: readonly string[]): ListDraft => ({ items, typed: '' });

/** All of them, each once. */
export const itemsOf = ({ items, typed }: ListDraft): string[] => [
  ...new Set([...items, ...typed.split(BETWEEN).filter(part => part !== '')]),
];
