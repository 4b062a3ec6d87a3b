/** What came of an act. The focus goes there, since what was acted on may be gone from the page. */
import { useEffect, useRef } from 'preact/hooks';

/** Another object for each act: the same words may come twice. */
export interface Telling {
  text: string;
}

export function Told({ telling }: { telling: Telling | undefined }) {
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => place.current?.focus(), [telling]);
  if (!telling) return null;
  return (
    <p ref={place} class="notice" role="status" tabIndex={-1}>
      {telling.text}
    </p>
  );
}
