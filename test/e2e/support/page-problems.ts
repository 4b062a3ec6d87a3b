/** What a browser finds wrong with a page. */
import type { Page } from 'playwright-core';

/** Errors on the console from now on, as they come. */
export function problemsOf(page: Page): string[] {
  const problems: string[] = [];
  page.on('console', message => {
    if (message.type() === 'error') problems.push(message.text());
  });
  return problems;
}
