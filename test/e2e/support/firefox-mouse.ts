/** A mouse in Firefox, which takes the selectors that tests have for Playwright: CSS, and of its own what these texts need. */
import type { FirefoxPage } from './firefox.ts';
import { mouseWith, type Mouse } from './mouse.ts';

/**
 * Elements that a selector finds, as an expression of the page. Before `:has-text`, `:text` and `:text-is` stands plain CSS; what these let
 * through is marked, so that plain CSS goes on from there. So is what has the focus: without a window `:focus` holds nowhere.
 */
const find = (selector: string): string => `(() => {
  let rest = ${JSON.stringify(selector.replaceAll(':focus', '[data-focus]'))};
  const squeezed = text => text.replaceAll(/\\s+/g, ' ').trim();
  // A page that loads has no element that could have it.
  const focused = [document.activeElement].filter(Boolean);
  for (const each of focused) each.setAttribute('data-focus', '');
  const marked = [['data-focus', focused]];
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

/** Puts the first that is found before the window's middle. @returns where to click, or nothing while something else is there */
const aim = (selector: string): string => `(() => {
  const [found] = ${find(selector)};
  if (!found || found.matches(':disabled')) return null;
  found.scrollIntoView({ block: 'center', behavior: 'instant' });
  const { x, y, width, height } = found.getClientRects()[0];
  const at = [Math.round(x + width / 2), Math.round(y + height / 2)];
  const hit = document.elementFromPoint(...at);
  return found.contains(hit) || hit?.contains(found) && hit.matches('label') ? at : null;
})()`;

/** A mouse in Firefox. */
export const firefoxMouse = (page: FirefoxPage): Mouse =>
  mouseWith({
    async click(selector) {
      await page.until(aim(selector));
      const at = await page.evaluate<[number, number] | null>(aim(selector));
      if (!at) throw new Error(`Something came before ${selector}`);
      await page.clickAt(...at);
    },
    isFocused: selector => page.evaluate(`${find(selector)}.includes(document.activeElement)`),
    async overtype(text) {
      await page.selectAll();
      await page.type(text);
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
    async see(selector) {
      await page.until(`${find(selector)}.length > 0`);
      return page.evaluate(`${find(selector)}[0]?.textContent ?? ''`);
    },
    arrive: part => page.until(`location.href.includes(${JSON.stringify(part)})`),
    valueOf: selector => page.evaluate(`${find(selector)}[0].value`),
  });
