/**
 * A team's day in the console, by mouse: three servers are added, one with a secret and one that is broken; a group gets rights; a toolset
 * is created; a token is rotated; a changed tool is approved; the team finds out why somebody cannot use a tool, and who called what.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { openConsole } from '../support/console-page.ts';
import { startDay, type Day } from '../support/day.ts';
import { picture } from '../support/keyboard.ts';
import { mouseOn } from '../support/person.ts';

const MAX_CLICKS = 40;
const ID = /[\da-f]{8}-[\da-f]{4}-|[\da-f]{32}/;

let day: Day;
let browser: Browser;

beforeAll(async () => {
  [day, browser] = await Promise.all([startDay(), startBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await day?.stop();
});

it('[OPS-1] a team’s day takes at most forty clicks, and no id is pasted', async () => {
  const view = await openConsole(browser, day.gateway.origin, day.admin, '/console');
  const { page } = view;
  const mouse = mouseOn(page);
  const counts: Record<string, number> = {};
  try {
    for (const [name, act] of day.steps) {
      const before = mouse.clicks;
      await act(mouse);
      counts[name] = mouse.clicks - before;
    }
    console.info(JSON.stringify(counts), mouse.clicks);
    expect(mouse.clicks).toBeLessThanOrEqual(MAX_CLICKS);
    expect(mouse.typed.filter(text => ID.test(text))).toEqual([]);
    expect(view.problems).toEqual([]);
    await page.goto(`${day.gateway.origin}/console`);
    await page.waitForSelector('.tiles');
    await picture(page, 'console-day');
  } finally {
    await view.close();
  }
});
