/**
 * A person connects an account in a real browser, through the pages of `oidc-provider`: with and without scripts, with the keyboard on our
 * pages.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { startOauthUpstream, type OauthUpstream } from '../support/oauth-upstream.ts';
import { problemsOf } from '../support/page-problems.ts';
import { signInThere } from '../support/sign-in-there.ts';

let gateway: Gateway;
let browser: Browser;
let upstream: OauthUpstream;

beforeAll(async () => {
  [gateway, browser, upstream] = await Promise.all([
    startGateway({ env: QUIET }),
    startBrowser(),
    startOauthUpstream(),
  ]);
  const server = { name: 'tickets', transport_type: 'HTTP', accounts: 'per_principal' };
  const connection_config = { url: upstream.url };
  await gateway.api('POST', '/api/v1/aggregator/servers', { ...server, connection_config });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.stop();
});

const accountsOf = async (token: string) =>
  (await gateway.api('GET', '/api/v1/accounts', undefined, token)).json['accounts'];

describe.each([true, false])('with scripts: %s', javaScriptEnabled => {
  it('[ACC-8] [ACC-7] signs in at the gateway and the server, agrees, and is connected', async () => {
    const name = `Ada ${javaScriptEnabled}`;
    const { token } = await gateway.createToken({ name });
    const context = await browser.newContext({ javaScriptEnabled });
    try {
      const page = await context.newPage();
      const problems = problemsOf(page, gateway.origin);
      await page.goto(`${gateway.origin}/connect/tickets`);
      await tabTo(page, /token|code/i);
      await page.keyboard.type(token);
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/connect\/tickets$/);
      await picture(page, `connect-${javaScriptEnabled}`);
      await tabTo(page, /^Sign in at tickets$/);
      await page.keyboard.press('Enter');
      await signInThere(page, 'ada');
      await picture(page, `connected-${javaScriptEnabled}`);
      expect(await page.locator('main').textContent()).toContain(`Calls of ${name} to tickets`);
      expect(await accountsOf(token)).toMatchObject([{ issuer: upstream.issuer }]);
      expect(problems).toEqual([]);
      // The same address again: a state can be used once, and the account stays.
      await page.goto(page.url());
      await picture(page, `not-connected-${javaScriptEnabled}`);
      expect(await page.locator('h1').textContent()).toBe('Not connected');
      expect(await accountsOf(token)).toHaveLength(1);
    } finally {
      await context.close();
    }
  });
});
