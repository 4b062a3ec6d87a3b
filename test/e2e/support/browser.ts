/**
 * A real headless browser, which connects to nothing outside this machine. A test process starts it once for all files that it runs in
 * turn: a start takes longer than many a test. It ends with the process.
 */
import { chromium, type Browser, type BrowserServer } from 'playwright-core';

/** The path in Debian's package. */
const EXECUTABLE = '/usr/bin/chromium';
const OPTIONS = {
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
};

/** Outlives the modules of one test file. */
const kept = globalThis as { porticoBrowser?: Promise<BrowserServer> | undefined };

/** Starts a browser of its own; the caller closes it. */
export const launchBrowser = (): Promise<Browser> => chromium.launch(OPTIONS);

/** Connects to the browser of this process; the caller closes what it opened there. */
export async function startBrowser(): Promise<Browser> {
  const forget = () => {
    kept.porticoBrowser = undefined;
  };
  kept.porticoBrowser ??= chromium.launchServer(OPTIONS).then(
    server => {
      // Playwright then only begins to close; at the exit it ends the browser and removes its folders at once.
      process.once('SIGTERM', () => process.exit());
      return server.once('close', forget);
    },
    (failure: unknown) => {
      forget();
      throw failure;
    },
  );
  return chromium.connect((await kept.porticoBrowser).wsEndpoint());
}
