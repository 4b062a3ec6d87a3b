/** Keeps the filters of a view in the address of the page, so that a reload or a shared link shows the same. */
import { useSearchParams } from 'wouter-preact';

/** @returns the values by name, and a function that sets one; an empty value is removed */
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
