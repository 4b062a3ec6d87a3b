/** The heading of what was opened within a view: the focus goes there, and a way back stands before it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';

export function Heading({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <p>
        <Link href="/servers">All servers</Link>
      </p>
      <h1 ref={heading} tabIndex={-1}>
        {children}
      </h1>
    </>
  );
}
