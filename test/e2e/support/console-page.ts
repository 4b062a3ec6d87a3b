/** The console in a real browser, signed in, with what is wrong with it: errors, requests to others, and what axe finds. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { problemsOf } from './page-problems.ts';

const AXE = fileURLToPath(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url));
const source = readFileSync(AXE, 'utf8');
/** What axe says of colours: all of its rules that a theme can break. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block'];
/** WCAG 2.2 AA, as axe has it. */
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export interface ConsolePage {
  page: Page;
  /** Errors on the console, what nobody caught, and requests to other origins. */
  problems: string[];
  /** What axe finds wrong with what is shown, by these rules or by all: the rule, and where. */
  violations(rules?: readonly string[]): Promise<string[]>;
  close(): Promise<void>;
}

interface Look {
  width?: number;
  theme?: 'light' | 'dark';
  /** The page's own policy holds; axe cannot be put into it then. */
  hasPolicy?: boolean;
}

/** Cookies of who signed in before, by token. */
const signedIn = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();

/** Somebody opens a view; the first time they are asked to sign in, and paste a token. */
export async function openConsole(
  browser: Browser,
  origin: string,
  token: string,
  path = '/console',
  { width = 1440, theme = 'light', hasPolicy = false }: Look = {},
): Promise<ConsolePage> {
  const storageState = signedIn.get(token);
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    // axe is put into the page by the test; the policy of the page lets nobody do that.
    bypassCSP: !hasPolicy,
    ...(storageState && { storageState }),
  });
  const page = await context.newPage();
  const problems = problemsOf(page, origin);
  page.on('pageerror', thrown => problems.push(`throws ${thrown.message}`));
  page.on('request', request => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:')) problems.push(`asks ${url}`);
  });
  await page.goto(origin + path);
  if (!storageState) {
    await page.fill('[name=code]', token);
    await page.press('[name=code]', 'Enter');
    await page.waitForURL(url => url.pathname.startsWith('/console'));
    signedIn.set(token, await context.storageState());
  }
  await page.waitForSelector('main h1');
  return {
    page,
    problems,
    async violations(rules) {
      if (!(await page.evaluate('"axe" in window'))) await page.evaluate(source);
      const run = `axe.run({ runOnly: ${JSON.stringify(rules ?? TAGS)} })`;
      const { violations } = await page.evaluate<{
        violations: { id: string; nodes: { target: string[] }[] }[];
      }>(run);
      return violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(node => node.target).join(' ')}`,
      );
    },
    close: () => context.close(),
  };
}
