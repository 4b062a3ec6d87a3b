/** What came of an act. The focus goes there, since what was acted on may be gone from the page. */
import { useEffect, useRef, useState } from 'preact/hooks';

/** Another object for each act: the same words may come twice. */
export interface Telling {
  text: string;
}

/**
 * What to tell, and what sets it. Whoever comes back from elsewhere without an act is told nothing.
 * @param isElsewhere a form stands in place of what it is told on
 */
export function useTelling(
  isElsewhere = false,
): [telling: Telling | undefined, tell: (text?: string) => void] {
  const [telling, setTelling] = useState<Telling>();
  useEffect(() => {
    if (isElsewhere) setTelling(undefined);
  }, [isElsewhere]);
  return [telling, text => setTelling(text === undefined ? undefined : { text })];
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
