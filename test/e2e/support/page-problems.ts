/** Problems that a browser finds in a page. */
import type { Page } from 'playwright-core';

/** Collects console errors from now on. @param origin only pages of this origin count; absent: all */
export function problemsOf(page: Page, origin = ''): string[] {
  const problems: string[] = [];
  page.on('console', message => {
    const isOurs = page.url().startsWith(origin);
    if (isOurs && message.type() === 'error') problems.push(message.text());
  });
  return problems;
}
