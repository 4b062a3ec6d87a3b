/** What a person without a mouse sees and does in a real browser. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** The folder for pictures of the pages, if wanted. */
const PICTURES = process.env['PORTICO_TEST_PICTURES'];

/** Takes a picture if a folder for pictures is set. */
export const picture = (page: Page, name: string): Promise<unknown> =>
  PICTURES === undefined
    ? Promise.resolve()
    : page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });

/** The label of the focused element as a person reads it; evaluated in the page. */
const FOCUSED_LABEL =
  'document.activeElement.labels?.[0]?.textContent ?? document.activeElement.ariaLabel ?? document.activeElement.textContent';

/** Presses Tab until the focused element has this name. */
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
