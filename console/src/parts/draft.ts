/** What somebody types over a value that may change elsewhere, in the URL for one. */
import { useState } from 'preact/hooks';

/**
 * The text in a field, and how it is changed. Where the value changes the text follows, at once: an effect would come after what was
 * typed meanwhile.
 * @param value undefined while it is not known
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
