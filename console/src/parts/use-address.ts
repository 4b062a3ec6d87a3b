/** What a view looks for, in the address of the page: it is there after a reload, and can be sent to somebody. */
import { useSearchParams } from 'wouter-preact';

/** @returns the values by name, and what sets one; an empty value is left out */
export function useAddress(): [URLSearchParams, (name: string, value: string) => void] {
  const [values, setValues] = useSearchParams();
  const set = (name: string, value: string) =>
    setValues(
      before => {
        const after = new URLSearchParams(before);
        if (value === '') after.delete(name);
        else after.set(name, value);
        return after;
      },
      { replace: true },
    );
  return [values, set];
}
