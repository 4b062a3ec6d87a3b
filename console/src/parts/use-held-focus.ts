/** Keeps the focus where it was while what had it is disabled. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Returns the ref of an element within which nothing may have the focus while it is busy. What had the focus gets it back, unless it
 * went elsewhere meanwhile.
 * @param otherwise gets the focus if what had it is gone
 */
export function useHeldFocus<E extends HTMLElement>(
  isBusy: boolean,
  otherwise?: RefObject<HTMLElement>,
): RefObject<E> {
  const place = useRef<E>(null);
  const held = useRef<HTMLElement | null>(null);
  const wasBusy = useRef(false);
  // Read while rendering: what is disabled then loses the focus at once.
  if (isBusy && !wasBusy.current) held.current = focusedWithin(place.current);
  wasBusy.current = isBusy;
  useLayoutEffect(() => {
    if (isBusy) return;
    const lost = held.current;
    held.current = null;
    if (!lost || document.activeElement !== document.body) return;
    // What came meanwhile may have moved it far away: the page stays where it is.
    (lost.isConnected ? lost : otherwise?.current)?.focus({ preventScroll: true });
  }, [isBusy]);
  return place;
}

function focusedWithin(place: HTMLElement | null): HTMLElement | null {
  const focused = document.activeElement;
  return focused instanceof HTMLElement && place?.contains(focused) ? focused : null;
}
