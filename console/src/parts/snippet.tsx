/** Text to paste elsewhere, with a copy button. It holds no secret. */
import { useRef, useState } from 'preact/hooks';
import './snippet.css';

const SELECTED =
  'The browser does not let it be copied here. It is selected: copy it by the keyboard.';

export function Snippet({ label, text }: { label: string; text: string }) {
  const place = useRef<HTMLPreElement>(null);
  const [told, setTold] = useState({ text, says: '' });
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setTold({ text, says: 'Copied.' });
    } catch {
      if (place.current) getSelection()?.selectAllChildren(place.current);
      setTold({ text, says: SELECTED });
    }
  }
  return (
    <section aria-label={label}>
      <pre ref={place} class="snippet" tabIndex={0}>
        {text}
      </pre>
      <p class="actions">
        <button type="button" class="quiet" onClick={() => void copy()}>
          Copy
        </button>
        <span role="status">{told.text === text ? told.says : ''}</span>
      </p>
    </section>
  );
}
