/** A long text of somebody else's, of which the beginning is shown, and the end where both sides of it matter, until all of it is wanted. */
import { useState } from 'preact/hooks';

interface LongTextProps {
  text: string;
  /** Most characters that are shown at first. */
  max: number;
  /** Show its end too. */
  keepsEnd?: boolean;
}

export function LongText({ text, max, keepsEnd = false }: LongTextProps) {
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= max) return text;
  const start = keepsEnd ? max / 2 : max;
  const end = keepsEnd ? text.slice(-start) : '';
  const left = text.length - start - end.length;
  return (
    <>
      {text.slice(0, start)}
      <button type="button" class="quiet more" onClick={() => setWhole(true)}>
        Show {left.toLocaleString('en')} more characters
      </button>
      {end}
    </>
  );
}
