/** Keeps a record open while somebody may be reading it, or typing in its form. */
import { useRef } from 'preact/hooks';

/**
 * Returns the record that was last found under the id. So it stays open if a refresh no longer finds it, until another id is opened.
 * @param id from the address; null: none is open
 * @param found the record, if it is known now
 */
export function useOpened<T>(id: string | null, found: T | undefined): T | undefined {
  const last = useRef({ id, found });
  if (found !== undefined || last.current.id !== id) last.current = { id, found };
  return last.current.found;
}
