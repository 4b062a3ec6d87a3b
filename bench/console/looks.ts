/** Waiting times in a browser: first paint of each view, and the effect of a filter, in milliseconds of the page's own clock. */
import type { Browser, BrowserContext, Page } from 'playwright-core';

export type SignIn = Awaited<ReturnType<BrowserContext['storageState']>>;

/** A filter of a view: its field, the value to set, and what must hold afterwards, as an expression for the page. */
export interface Filter {
  path: string;
  name: string;
  /** Selector of the field, and the value to set. */
  field: string;
  value: string;
  holds: string;
}

/** The content is shown, and nothing is loading. */
const READY = `document.querySelector('main h1') && !document.querySelector('main .loading')`;
const TIMEOUT_MS = 60_000;

/** Polls in the page until the expression holds, and resolves with the time of the next frame. */
const whenPainted = (holds: string): string => `new Promise((resolve, reject) => {
  const until = performance.now() + ${TIMEOUT_MS};
  const look = () => {
    if (${holds}) return requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    if (performance.now() > until) return reject(new Error('it never came'));
    requestAnimationFrame(look);
  };
  look();
})`;

export interface View {
  name: string;
  url: string;
}

/** Signs in by pasting a token, and lists the available views. */
export async function signIn(
  browser: Browser,
  origin: string,
  token: string,
): Promise<{ signedIn: SignIn; views: readonly View[] }> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${origin}/console`);
    await page.fill('[name=code]', token);
    await page.press('[name=code]', 'Enter');
    await page.waitForSelector('nav a');
    const views = await page.evaluate<View[]>(
      `[...document.querySelectorAll('nav a')].map(({ textContent: name, href: url }) => ({ name, url }))`,
    );
    return { signedIn: await context.storageState(), views };
  } finally {
    await context.close();
  }
}

async function within<T>(
  browser: Browser,
  signedIn: SignIn,
  act: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({
    storageState: signedIn,
    viewport: { width: 1440, height: 900 },
    bypassCSP: true,
  });
  try {
    return await act(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Time from the request of the page, with an empty browser cache, until everything is shown. */
export const firstPaint = (browser: Browser, signedIn: SignIn, url: string): Promise<number> =>
  within(browser, signedIn, async page => {
    await page.goto(url, { waitUntil: 'commit' });
    return page.evaluate<number>(whenPainted(READY));
  });

/** Time from a change of the field until the result is shown. */
export const filterTime = (
  browser: Browser,
  signedIn: SignIn,
  url: string,
  { field, value, holds }: Filter,
): Promise<number> =>
  within(browser, signedIn, async page => {
    await page.goto(url, { waitUntil: 'commit' });
    await page.evaluate(whenPainted(READY));
    const set = `(() => {
      const field = document.querySelector(${JSON.stringify(field)});
      const type = Object.getPrototypeOf(field);
      Object.getOwnPropertyDescriptor(type, 'value').set.call(field, ${JSON.stringify(value)});
      field.dispatchEvent(new Event('input', { bubbles: true }));
      field.dispatchEvent(new Event('change', { bubbles: true }));
      return performance.now();
    })()`;
    return page.evaluate<number>(`(async () => {
      const startedAt = ${set};
      return (await ${whenPainted(`${READY} && (${holds})`)}) - startedAt;
    })()`);
  });
