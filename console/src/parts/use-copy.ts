/** Copies a text, and tells the outcome as long as that text is shown. */
import { useState } from 'preact/hooks';

const COPIED = 'Copied.';
const SELECTED =
  'The browser does not let it be copied here. It is selected: copy it by the keyboard.';

/**
 * Returns what to tell, and a function that copies.
 * @param select selects the shown text, where the browser refuses to copy it
 */
export function useCopy(text: string, select: () => void): [says: string, copy: () => void] {
  const [told, setTold] = useState({ text, says: '' });
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setTold({ text, says: COPIED });
    } catch {
      select();
      setTold({ text, says: SELECTED });
    }
  }
  return [told.text === text ? told.says : '', () => void copy()];
}
