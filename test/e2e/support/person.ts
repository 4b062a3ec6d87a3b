/** Somebody at the console, with a mouse or with keys alone: what they click is counted, and what they type is kept. The same in every browser. */
import type { Page } from 'playwright-core';

/** What a browser is asked to do. Selectors are those of Playwright. */
export interface Hand {
  /** Waits until something is there, is seen and can be clicked. Without a mouse: goes there, and presses the key that works it. */
  click(selector: string): Promise<void>;
  isFocused(selector: string): Promise<boolean>;
  /** Types over what is in the field that has the focus. */
  overtype(text: string): Promise<void>;
  pick(selector: string, value: string): Promise<void>;
  /** Waits until something is seen. @returns its text */
  see(selector: string): Promise<string>;
  /** Waits until the address has a part. */
  arrive(part: string): Promise<void>;
  /** What is in a field. */
  valueOf(selector: string): Promise<string>;
}

export interface Person extends Hand {
  /** Clicks so far: buttons, links, boxes, choices, and fields that are typed into. */
  clicks: number;
  /** All that was typed. */
  typed: string[];
  /** Clicks into a field, unless the focus is there, and types. */
  type(selector: string, text: string): Promise<void>;
  /** Opens a choice and picks: two clicks. */
  choose(selector: string, value: string): Promise<void>;
}

export function personWith(hand: Hand): Person {
  const person: Person = {
    ...hand,
    clicks: 0,
    typed: [],
    async click(selector) {
      person.clicks += 1;
      await hand.click(selector);
    },
    async type(selector, text) {
      person.typed.push(text);
      if (!(await hand.isFocused(selector))) await person.click(selector);
      await hand.overtype(text);
    },
    async choose(selector, value) {
      person.clicks += 2;
      await hand.pick(selector, value);
    },
  };
  return person;
}

/** A mouse in Chromium. */
export const mouseOn = (page: Page): Person =>
  personWith({
    click: selector => page.click(selector),
    isFocused: async selector => (await page.locator(`${selector}:focus`).count()) > 0,
    async overtype(text) {
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.type(text);
    },
    pick: async (selector, value) => void (await page.selectOption(selector, value)),
    see: async selector => (await (await page.waitForSelector(selector)).textContent()) ?? '',
    arrive: part => page.waitForURL(({ href }) => href.includes(part)),
    valueOf: selector => page.inputValue(selector),
  });
