/**
 * The account in which a reader of the guides deploys: our fake Cloudflare. Guides are written for a gateway named portico; here it has its
 * own name, because the command stores its state in the checkout.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startCloudflare, type FakeCloudflare } from '../../fixtures/cloudflare/cloudflare.ts';
import { findFreePort } from '../../fixtures/start-fixture.ts';

/** The bookmark of the first deployment. */
const FIRST_BOOKMARK = '00000001';
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface GuideCloudflare {
  env: NodeJS.ProcessEnv;
  /** The command that the deploy script in package.json stands for. */
  deployScript: string;
  /** Adapts a command of a guide, or its expected output, to this account. */
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
