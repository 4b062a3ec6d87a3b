/** What a browser finds wrong with a page. */
import type { Page } from 'playwright-core';

/** Errors on the console from now on, as they come. @param origin whose pages alone are looked at; absent: all */
export function problemsOf(page: Page, origin = ''): string[] {
  const problems: string[] = [];
  page.on('console', message => {
    const isOurs = page.url().startsWith(origin);
    if (isOurs && message.type() === 'error') problems.push(message.text());
  });
  return problems;
}
