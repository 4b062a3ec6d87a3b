/** The console in a real browser, signed in, with what is wrong with it: errors, requests to others, and what axe finds. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { violationsOf } from './axe.ts';
import { problemsOf } from './page-problems.ts';

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
    violations: rules => violationsOf(expression => page.evaluate(expression), rules),
    close: () => context.close(),
  };
}
