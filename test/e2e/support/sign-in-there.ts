/** Signs a person in at `oidc-provider`, to which a page of ours redirected the browser, agrees, and is redirected back. */
import type { Page } from 'playwright-core';

export async function signInThere(page: Page, login: string): Promise<void> {
  await page.waitForURL(/\/interaction\//);
  await page.fill('[name=login]', login);
  await page.fill('[name=password]', 'x');
  await page.click('[type=submit]');
  await page.waitForSelector('[name=prompt][value=consent]', { state: 'attached' });
  await page.click('[type=submit]');
  await page.waitForURL(/\/oauth\/callback\?/);
}
