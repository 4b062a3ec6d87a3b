/**
 * Moves the focus to an element that was rendered. It is there before the next key is handled: an effect runs a frame later, and
 * keys that were pressed in between would be lost.
 */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Returns the ref of the element. It gets the focus at first, and again whenever `cause` changes; but not while `when` is false. */
export function useFocus<E extends HTMLElement>(cause?: unknown, when = true): RefObject<E> {
  const element = useRef<E>(null);
  useLayoutEffect(() => {
    if (when) element.current?.focus();
  }, [cause, when]);
  return element;
}
