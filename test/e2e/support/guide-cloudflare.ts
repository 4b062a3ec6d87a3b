/**
 * The account in which a reader of the guides deploys: a Cloudflare of our own. Guides are written for a gateway named portico; here it has
 * a name of its own, since what the command keeps lies in the checkout.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startCloudflare, type FakeCloudflare } from '../../fixtures/cloudflare/cloudflare.ts';
import { findFreePort } from '../../fixtures/start-fixture.ts';

/** Of the first deployment. */
const FIRST_BOOKMARK = '00000001';
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface GuideCloudflare {
  env: NodeJS.ProcessEnv;
  /** What a script of this name in package.json runs. */
  deployScript: string;
  /** A command of a guide, or what it is to print, as it is here. */
  here(text: string): string;
  stop(): Promise<void>;
}

export async function startGuideCloudflare(): Promise<GuideCloudflare> {
  const folder = await mkdtemp(join(tmpdir(), 'portico-guide-cloudflare-'));
  const port = await findFreePort();
  const cloudflare: FakeCloudflare = await startCloudflare(folder, port, () => {
    throw new Error('A guide asks no public server');
  });
  const name = `guide-${process.pid}-${port}`;
  const origin = `http://127.0.0.1:${port}`;
  return {
    env: {
      CLOUDFLARE_API_BASE_URL: cloudflare.baseUrl,
      CLOUDFLARE_API_TOKEN: cloudflare.token,
      NO_COLOR: '1',
      WRANGLER_SEND_METRICS: 'false',
    },
    deployScript: `node '${ROOT}deploy/main.ts' --name ${name} --url ${origin}`,
    here: text =>
      text
        .replaceAll('https://portico.acme.workers.dev', origin)
        .replaceAll('CLOUDFLARE_API_TOKEN=…', `CLOUDFLARE_API_TOKEN=${cloudflare.token}`)
        .replaceAll(/(database|namespace|Worker|--name|export|restore) portico\b/gu, `$1 ${name}`)
        .replaceAll('BOOKMARK', FIRST_BOOKMARK),
    async stop() {
      await cloudflare.stop();
      await rm(folder, { recursive: true, force: true });
      await rm(join(ROOT, '.portico', 'cloudflare', name), { recursive: true, force: true });
    },
  };
}
