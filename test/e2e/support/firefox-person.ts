/**
 * A person at Firefox, with a mouse or with the keyboard alone. Selectors are the ones that tests use for Playwright: CSS, and the needed
 * ones of its extensions.
 */
import type { FirefoxPage } from './firefox.ts';
import { personWith, type Hand, type Person } from './person.ts';

const TAB = '\uE004';
const CONTROL = '\uE009';
const SHIFT = '\uE008';
const UP = '\uE013';
const DOWN = '\uE015';
const ENTER = '\uE007';
/** The most presses of Tab before it gives up. */
const MAX_TABS = 80;

/**
 * Finds the elements of a selector, as an expression for the page. Plain CSS stands before `:has-text`, `:text` and `:text-is`; the
 * elements that these match are marked, so that the following plain CSS applies to them.
 */
const find = (selector: string): string => `(() => {
  let rest = ${JSON.stringify(selector)};
  const squeezed = text => text.replaceAll(/\\s+/g, ' ').trim();
  const marked = [];
  const OWN = /^(.*?):(has-text|text-is|text)\\("([^"]*)"\\)(.*)$/;
  for (let parts = OWN.exec(rest); parts; parts = OWN.exec(rest)) {
    const [, before, kind, text, after] = parts;
    const isMeant = ({ textContent }) => kind === 'text-is'
      ? squeezed(textContent) === text
      : squeezed(textContent).toLowerCase().includes(text.toLowerCase());
    const mark = 'data-found-' + marked.length;
    const found = [...document.querySelectorAll(before)].filter(isMeant);
    for (const each of found) each.setAttribute(mark, '');
    marked.push([mark, found]);
    rest = '[' + mark + ']' + after;
  }
  const all = [...document.querySelectorAll(rest)];
  for (const [mark, found] of marked) for (const each of found) each.removeAttribute(mark);
  return all.filter(each => each.checkVisibility() && each.getClientRects().length > 0);
})()`;

/** Scrolls the first match to the window's middle. @returns where to click, or null while something else covers it */
const aim = (selector: string): string => `(() => {
  const [found] = ${find(selector)};
  if (!found || found.matches(':disabled')) return null;
  found.scrollIntoView({ block: 'center', behavior: 'instant' });
  const { x, y, width, height } = found.getClientRects()[0];
  const at = [Math.round(x + width / 2), Math.round(y + height / 2)];
  const hit = document.elementFromPoint(...at);
  return found.contains(hit) || hit?.contains(found) && hit.matches('label') ? at : null;
})()`;

/** What both kinds of persons see and type. */
const eyesOf = (page: FirefoxPage): Omit<Hand, 'click' | 'pick'> => ({
  isFocused: selector => page.evaluate(`${find(selector)}.includes(document.activeElement)`),
  async overtype(text) {
    await page.chord(CONTROL, 'a');
    await page.type(text);
  },
  async see(selector) {
    await page.until(`${find(selector)}.length > 0`);
    return page.evaluate(`${find(selector)}[0]?.textContent ?? ''`);
  },
  arrive: part => page.until(`location.href.includes(${JSON.stringify(part)})`),
  valueOf: selector => page.evaluate(`${find(selector)}[0].value`),
});

/** A person with a mouse in Firefox. */
export const firefoxMouse = (page: FirefoxPage): Person =>
  personWith({
    ...eyesOf(page),
    async click(selector) {
      await page.until(aim(selector));
      const at = await page.evaluate<[number, number] | null>(aim(selector));
      if (!at) throw new Error(`Something came before ${selector}`);
      await page.clickAt(...at);
    },
    async pick(selector, value) {
      await page.until(`${find(selector)}.length > 0`);
      await page.evaluate(`(() => {
        const [field] = ${find(selector)};
        field.focus();
        field.value = ${JSON.stringify(value)};
        for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, { bubbles: true }));
      })()`);
    },
  });

/** Finds the direction from the focused element to the first match, and its kind. A label counts as its field. */
const direction = (selector: string): string => `(() => {
  const [found] = ${find(selector)};
  const target = found?.control ?? found;
  const active = document.activeElement ?? document.body;
  if (!target || target.matches(':disabled')) return null;
  if (target === active) return target.matches('input, select, textarea') ? target.type : 'there';
  // Tab stops at one button of a radio group alone; arrows go on from there.
  const isGroup = target.type === 'radio' && active.type === 'radio' && target.name === active.name;
  const isAhead = active === document.body
    || Boolean(active.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING);
  return (isGroup ? 'group ' : '') + (isAhead ? 'ahead' : 'behind');
})()`;

/** A person with the keyboard alone in Firefox: Tab to the target, then Enter, Space or arrows. */
export function firefoxKeys(page: FirefoxPage): Person {
  /** @returns the type of a field, or `there` */
  async function reach(selector: string): Promise<string> {
    await page.until(`${direction(selector)} !== null`);
    for (let presses = 0; presses < MAX_TABS; presses += 1) {
      const found = await page.evaluate<string | null>(direction(selector));
      if (found === 'ahead') await page.type(TAB);
      else if (found === 'behind') await page.chord(SHIFT, TAB);
      else if (found === 'group ahead') await page.type(DOWN);
      else if (found === 'group behind') await page.type(UP);
      else if (found !== null) return found;
    }
    throw new Error(`Tab does not reach ${selector}`);
  }
  return personWith({
    ...eyesOf(page),
    async click(selector) {
      const type = await reach(selector);
      if (type === 'there') await page.type(ENTER);
      if (type === 'checkbox' || type === 'radio') await page.type(' ');
    },
    async pick(selector, value) {
      await reach(selector);
      const steps = await page.evaluate<number>(`(() => {
        const { options, selectedIndex } = document.activeElement;
        return [...options].findIndex(option => option.value === ${JSON.stringify(value)}) - selectedIndex;
      })()`);
      await page.type((steps < 0 ? UP : DOWN).repeat(Math.abs(steps)));
    },
  });
}
