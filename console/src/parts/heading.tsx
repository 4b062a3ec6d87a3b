/** Heading of a page within a view: it takes the focus, and a link back stands before it. */
import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { useFocus } from './use-focus.ts';

interface HeadingProps {
  /** Address and text of the link back. */
  back: readonly [href: string, text: string];
  children: ComponentChildren;
}

export function Heading({ back: [href, text], children }: HeadingProps) {
  const heading = useFocus<HTMLHeadingElement>();
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
