/** The words of a query that uses are learned by. Pure. */
import { MAX_QUERY_CHARS } from '../rank/limits.ts';
import { toTerms } from '../text/terms.ts';

/** In a query of more words than this, each says little. */
const MAX_WORDS = 12;

/** Returns the query's distinct terms; none where there are too many. */
export function toLearnedWords(query: string): string[] {
  const words = [...new Set(toTerms(query, MAX_QUERY_CHARS))];
  return words.length > MAX_WORDS ? [] : words;
}
