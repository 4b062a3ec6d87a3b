/** A person adds a passkey in a real browser, with the keyboard alone, and signs in with it, until it is removed. */
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { problemsOf } from '../support/page-problems.ts';
import { startBrowser } from '../support/browser.ts';
import { QUIET, startGateway, type Gateway } from '../support/gateway.ts';
import { picture, tabTo } from '../support/keyboard.ts';
import { open } from '../support/raw-client.ts';
import { startSigningProgram } from '../support/signing-program.ts';

const WITH_PASSKEY = 'Sign in with a passkey';

let gateway: Gateway;
let browser: Browser;
/** Passkeys belong to a host name, never to an IP address. */
let origin: string;
let token: { id: string; token: string };

beforeAll(async () => {
  [gateway, browser] = await Promise.all([startGateway({ env: QUIET }), startBrowser()]);
  origin = gateway.origin.replace('127.0.0.1', 'localhost');
});

beforeEach(async () => {
  token = await gateway.createToken({ name: 'Ada' });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

interface Device {
  context: BrowserContext;
  page: Page;
  cdp: CDPSession;
  authenticatorId: string;
  /** The browser's errors. */
  problems: string[];
}

/** Opens a browser on a device with an authenticator that can verify its user. */
async function openDevice(): Promise<Device> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems = problemsOf(page);
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { context, page, cdp, authenticatorId, problems };
}

async function pasteToken({ page }: Device): Promise<void> {
  await page.goto(`${origin}/sign-in`);
  await tabTo(page, /^Token/);
  await page.keyboard.type(token.token);
  await page.keyboard.press('Enter');
  await page.getByText('signed in as').waitFor();
}

async function press(page: Page, name: RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press('Enter');
}

async function addPasskey(device: Device, name: string): Promise<void> {
  const { page } = device;
  await pasteToken(device);
  await press(page, /^Your passkeys$/);
  await page.waitForURL(/\/sign-in\/passkeys$/);
  await tabTo(page, /^Name of/);
  await page.keyboard.type(name);
  await press(page, /^Add a passkey$/);
}

async function signOut(page: Page): Promise<void> {
  await press(page, /^Back$/);
  await page.getByText('signed in as').waitFor();
  await press(page, /^Sign out$/);
  await page.getByRole('button', { name: WITH_PASSKEY }).waitFor();
}

/** Waits for the error that the page shows. */
const shown = (page: Page) => page.locator('#problem:not(:empty)').textContent();

const statusOf = async (accessToken: string): Promise<number> => {
  const client = await open('modern', { url: `${origin}/mcp`, token: accessToken });
  return (await client.request('tools/list')).status;
};

it('[ACC-7] a person adds a passkey, signs in with it, authorises a program, and removes it', async () => {
  const program = await startSigningProgram(origin);
  const device = await openDevice();
  const { page, cdp, authenticatorId, problems } = device;
  try {
    await addPasskey(device, 'Laptop');
    await page.getByText('never used').waitFor();
    await picture(page, 'passkeys-one');
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
    expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }]);
    await signOut(page);

    await page.goto(program.authorizeUrl.href);
    await page.getByRole('button', { name: WITH_PASSKEY }).waitFor();
    await picture(page, 'sign-in-with-passkey');
    await press(page, /^Sign in with a passkey$/);
    await page.waitForURL(/\/authorize\?/);
    expect(await page.locator('form.aside').textContent()).toContain('signed in as Ada');
    await press(page, /^Allow$/);
    await page.waitForURL(/\/callback\?/);
    const accessToken = await program.accessToken;
    expect(await statusOf(accessToken)).toBe(200);

    await page.goto(`${origin}/sign-in/passkeys`);
    await press(page, /^Remove Laptop$/);
    // Everyone who signed in with it is signed out.
    await page.waitForURL(/\/sign-in\?return=/);
    await page.getByRole('button', { name: WITH_PASSKEY }).waitFor();
    expect(await statusOf(accessToken)).toBe(401);
    await press(page, /^Sign in with a passkey$/);
    expect(await shown(page)).toContain('You cannot sign in with this');
    await picture(page, 'passkey-refused');
    // The browser logs the refusal that the page shows.
    expect(problems.filter(text => !text.includes('403'))).toEqual([]);
  } finally {
    await device.context.close();
    await program.stop();
  }
});

it('[ACC-7] [ACC-3] a passkey signs nobody in after its token is revoked', async () => {
  const device = await openDevice();
  const { page } = device;
  try {
    await addPasskey(device, 'Phone');
    await page.getByText('never used').waitFor();
    await signOut(page);
    await press(page, /^Sign in with a passkey$/);
    await page.getByText('signed in as').waitFor();
    await gateway.api('DELETE', `/api/v1/tokens/${token.id}`);
    await page.reload();
    await page.getByRole('button', { name: WITH_PASSKEY }).waitFor();
    await press(page, /^Sign in with a passkey$/);
    expect(await shown(page)).toContain('You cannot sign in with this');
  } finally {
    await device.context.close();
  }
});

it('[ACC-7] the page shows what the browser refused, and stays usable', async () => {
  const device = await openDevice();
  const { page, cdp, authenticatorId } = device;
  try {
    await addPasskey(device, '');
    await page.getByText('never used').waitFor();
    await press(page, /^Add a passkey$/);
    expect(await shown(page)).toContain('has a passkey of yours already');
    await picture(page, 'passkey-there');
    await signOut(page);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await press(page, /^Sign in with a passkey$/);
    expect(await shown(page)).toContain('Nothing was done');
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await press(page, /^Sign in with a passkey$/);
    await page.getByText('signed in as').waitFor();
  } finally {
    await device.context.close();
  }
});

it('[ACC-7] without scripts there is no button without effect', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  try {
    const page = await context.newPage();
    await page.goto(`${origin}/sign-in`);
    expect(await page.getByRole('button').allTextContents()).toEqual(['Sign in']);
    await page.getByLabel(/token/i).fill(token.token);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Your passkeys' }).click();
    expect(await page.getByRole('button').count()).toBe(0);
    await page.getByText('runs no scripts').waitFor();
    await picture(page, 'passkeys-without-script');
  } finally {
    await context.close();
  }
});
