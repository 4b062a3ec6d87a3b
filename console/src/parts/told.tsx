/** The outcome of an action. It takes the focus, since the element that was acted on may be gone. */
import { useEffect, useState } from 'preact/hooks';
import { useFocus } from './use-focus.ts';

/** A new object for each action, since the same text may come twice. */
export interface Telling {
  text: string;
}

/**
 * Returns the message to show, and a function to set it. The message is cleared when another page of the view opens.
 * @param isElsewhere a form is shown instead of the list
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
  const place = useFocus<HTMLParagraphElement>(telling);
  if (!telling) return null;
  return (
    <p ref={place} class="notice" role="status" tabIndex={-1}>
      {telling.text}
    </p>
  );
}
