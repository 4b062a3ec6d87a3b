/** Text to paste elsewhere, with a copy button. It holds no secret. */
import { useRef } from 'preact/hooks';
import './snippet.css';
import { useCopy } from './use-copy.ts';

export function Snippet({ label, text }: { label: string; text: string }) {
  const place = useRef<HTMLPreElement>(null);
  const [says, copy] = useCopy(text, () => {
    if (place.current) getSelection()?.selectAllChildren(place.current);
  });
  return (
    <section aria-label={label}>
      <pre ref={place} class="snippet" tabIndex={0}>
        {text}
      </pre>
      <p class="actions">
        <button type="button" class="quiet" onClick={copy}>
          Copy
        </button>
        <span role="status">{says}</span>
      </p>
    </section>
  );
}
