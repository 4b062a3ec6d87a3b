/** The console in a real browser, signed in, with its problems: errors, requests to other origins, and axe's findings. */
import type { Browser, BrowserContext, Page, Request, Route } from 'playwright-core';
import { violationsOf } from './axe.ts';
import { problemsOf } from './page-problems.ts';

export interface ConsolePage {
  page: Page;
  /** Console errors, uncaught errors, and requests to other origins. */
  problems: string[];
  /** Returns axe's findings on the page, by these rules or all: the rule, and where. */
  violations(rules?: readonly string[]): Promise<string[]>;
  close(): Promise<void>;
}

interface Look {
  width?: number;
  theme?: 'light' | 'dark';
  /** Enforces the page's own CSP; then axe cannot be loaded into the page. */
  hasPolicy?: boolean;
}

/** Cookies of earlier sign-ins, by token. */
const signedIn = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();

/** Opens a view as a person; the first time the person is asked to sign in, and pastes a token. */
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
    // The test loads axe into the page, which the page's CSP forbids.
    bypassCSP: !hasPolicy,
    ...(storageState && { storageState }),
  });
  const page = await context.newPage();
  const problems = problemsOf(page, origin);
  page.on('pageerror', thrown => problems.push(`throws ${thrown.message}`));
  const asked = (request: Request) => `asks ${request.url()}`;
  page.on('request', request => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:')) problems.push(asked(request));
  });
  // Chromium also tells of some requests that the policy kept from leaving.
  page.on('requestfailed', request => {
    const at = problems.indexOf(asked(request));
    if (request.failure()?.errorText === 'csp' && at >= 0) problems.splice(at, 1);
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

/** Holds the request that an action makes. Returns a function that lets it go on. */
export async function holdRequest(
  page: Page,
  address: RegExp,
  act: () => Promise<unknown>,
): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<Route>();
  await page.route(address, route => held.resolve(route), { times: 1 });
  await act();
  const route = await held.promise;
  return () => route.continue();
}
