/** A text field over a value that may change elsewhere, for example in the URL. */
import { useState } from 'preact/hooks';

/**
 * Returns the text of a field, and a function to change it. If the value changes, the text follows during rendering: an effect could
 * overwrite what was typed meanwhile.
 * @param value undefined while it is loading
 */
export function useDraft(value: string | undefined): [string, (text: string) => void] {
  const [draft, setDraft] = useState(value ?? '');
  const [from, setFrom] = useState(value);
  if (value !== undefined && value !== from) {
    setFrom(value);
    setDraft(value);
  }
  return [draft, setDraft];
}
