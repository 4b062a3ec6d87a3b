/** What a person sees and does in a real browser without a mouse. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** Where pictures of the pages go, for who wants to look at them. */
const PICTURES = process.env['PORTICO_TEST_PICTURES'];

/** Takes a picture, where somebody wants to look at it. */
export const picture = (page: Page, name: string): Promise<unknown> =>
  PICTURES === undefined
    ? Promise.resolve()
    : page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });

/** What a person would call what has the focus; it runs in the page. */
const FOCUSED_LABEL =
  'document.activeElement.labels?.[0]?.textContent ?? document.activeElement.ariaLabel ?? document.activeElement.textContent';

/** Presses Tab until what has the focus is called so. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    const focused = page.locator(':focus');
    if ((await focused.count()) === 1) {
      const label = await page.evaluate<string>(FOCUSED_LABEL);
      if (name.test(label.trim())) return;
    }
    await page.keyboard.press('Tab');
  }
  throw new Error(`Nothing that is called ${name} gets the focus`);
}
