/** A real headless browser, which connects to nothing outside this machine. */
import { chromium, type Browser } from 'playwright-core';

/** The path in Debian's package. */
const EXECUTABLE = '/usr/bin/chromium';

/** Starts the browser; the caller closes it. */
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
