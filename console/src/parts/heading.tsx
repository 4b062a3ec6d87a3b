/** The heading of what was opened within a view: the focus goes there, and a way back stands before it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';

interface HeadingProps {
  /** Where the way back leads, and what it is called. */
  back: readonly [href: string, text: string];
  children: ComponentChildren;
}

export function Heading({ back: [href, text], children }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <p class="back">
        <Link href={href}>{text}</Link>
      </p>
      <h1 ref={heading} tabIndex={-1}>
        {children}
      </h1>
    </>
  );
}
