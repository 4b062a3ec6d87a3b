/** A real browser without a window, which asks nobody beyond this machine. */
import { chromium, type Browser } from 'playwright-core';

/** Where Debian's package has it. */
const EXECUTABLE = '/usr/bin/chromium';

/** Start it; who starts it closes it. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: EXECUTABLE,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
