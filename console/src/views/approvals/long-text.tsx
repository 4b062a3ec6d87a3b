/** A long outside text: shows its start, and if wanted its end, until a click shows all of it. */
import { useState } from 'preact/hooks';

interface LongTextProps {
  text: string;
  /** Most characters shown at first. */
  max: number;
  /** Also show the end. */
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
