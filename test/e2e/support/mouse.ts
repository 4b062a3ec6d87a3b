/** Somebody with a mouse: what they click is counted, and what they type is kept. */
import type { Page } from 'playwright-core';

export interface Mouse {
  page: Page;
  /** Clicks so far: buttons, links, boxes, choices, and fields that are typed into. */
  clicks: number;
  /** All that was typed. */
  typed: string[];
  click(selector: string): Promise<void>;
  /** Clicks into a field, unless the focus is there, and types. */
  type(selector: string, text: string): Promise<void>;
  /** Opens a choice and picks: two clicks. */
  choose(selector: string, value: string): Promise<void>;
}

export function mouseOn(page: Page): Mouse {
  const mouse: Mouse = {
    page,
    clicks: 0,
    typed: [],
    async click(selector) {
      mouse.clicks += 1;
      await page.click(selector);
    },
    async type(selector, text) {
      mouse.typed.push(text);
      const isFocused = await page.locator(`${selector}:focus`).count();
      if (isFocused === 0) await mouse.click(selector);
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type(text);
    },
    async choose(selector, value) {
      mouse.clicks += 2;
      await page.selectOption(selector, value);
    },
  };
  return mouse;
}
