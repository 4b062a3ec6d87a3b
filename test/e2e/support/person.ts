/**
 * A person at the console, with a mouse or with the keyboard alone: clicks are counted, and typed text is recorded. The same in every
 * browser.
 */
import type { Page } from 'playwright-core';

/** The actions of a browser. Selectors are those of Playwright. */
export interface Hand {
  /**
   * Waits until an element exists, is visible and can be clicked, then clicks it. Without a mouse: moves to it, and presses the key that
   * activates it.
   */
  click(selector: string): Promise<void>;
  isFocused(selector: string): Promise<boolean>;
  /** Replaces the content of the focused field. */
  overtype(text: string): Promise<void>;
  pick(selector: string, value: string): Promise<void>;
  /** Waits until an element is visible. @returns its text */
  see(selector: string): Promise<string>;
  /** Waits until the address contains this part. */
  arrive(part: string): Promise<void>;
  /** Returns the value of a field. */
  valueOf(selector: string): Promise<string>;
}

export interface Person extends Hand {
  /** Clicks so far: buttons, links, boxes, choices, and fields that are typed into. */
  clicks: number;
  /** Everything that was typed. */
  typed: string[];
  /** Clicks into a field, unless it has the focus, and types. */
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

/** A person with a mouse in Chromium. */
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
