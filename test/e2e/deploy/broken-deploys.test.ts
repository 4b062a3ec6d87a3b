/**
 * Interrupted deployments: each kind of request to Cloudflare fails once, refused, or cut off before or after it was processed. When it is
 * run again, it resumes where it was interrupted, and ends with one of everything.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Response as OutboundResponse } from 'miniflare';
import type { Failure } from '../../fixtures/cloudflare/cloudflare.ts';
import { drawn, SEED } from '../../unit/seeded.ts';
import { createDeployWorld, type DeployWorld } from '../support/deploy.ts';

/** More than there are kinds of requests. */
const MOST_RUNS = 40;
/** Long enough for a busy machine; every run starts wrangler once or twice. */
const TIMEOUT_MS = 900_000;
const WAYS: readonly Failure[] = ['after', { status: 500 }, 'before', { status: 429 }];
/** How many of so many consecutive kinds of requests fail in this run: `npm run test:whole` makes all fail. */
const OF = 5;
const FAILING = drawn(OF);

const codeIn = (text: string): string => /\/setup#([\w-]{43})/.exec(text)?.[1] ?? '';
/** Whether the output has one line that says what failed, one that says how to continue, and no stack. */
const isOneLine = (text: string): boolean =>
  text.split('\n').filter(line => line.startsWith('✗')).length === 1 &&
  text.includes('run it again to go on') &&
  !text.includes('    at ');

let world: DeployWorld;

beforeAll(async () => {
  world = await createDeployWorld(() => new OutboundResponse(null, { status: 502 }));
});
afterAll(() => world.stop());

it(
  `[OPS-4] resumes after a failure of any request, and creates nothing twice (${FAILING} of ${OF}, seed ${SEED})`,
  async () => {
    const { cloudflare, name } = world;
    const script = `/workers/scripts/${name}`;
    let ring: string | undefined;
    let address = '';
    /** Runs the deployment while one request fails. @returns the failed request, and whether the run completed */
    const runWith = async (pick: (request: string) => boolean, how: Failure) => {
      let failing = '';
      cloudflare.clear();
      cloudflare.failOnce(request => pick(request) && (failing = request) !== '', how);
      const { code, text } = await world.deploy();
      const at = `${failing} ${JSON.stringify(how)}: ${text}`;
      const keys = cloudflare.account.scripts.get(name)?.secrets['PORTICO_KEYS'];
      // Keys that were uploaded are never replaced.
      expect(keys).toBe(ring ?? keys);
      ring = keys;
      expect(await world.keptText().catch(() => '')).not.toContain('secrets.json');
      // Wrangler retries some requests by itself, so a run may succeed anyway.
      expect([code === 0 || isOneLine(text), at]).toEqual([true, at]);
      expect([failing !== '' || code === 0, at]).toEqual([true, at]);
      address = codeIn(text) || address;
      return { failing, isWhole: code === 0 };
    };

    // What is created once, in the order of creation. Wrangler retries its upload by itself.
    for (const making of ['POST /d1/database', 'POST /storage/kv/namespaces', `PUT ${script}`]) {
      for (const how of ['before', 'after'] as const) {
        const { failing, isWhole } = await runWith(request => request === making, how);
        if (isWhole) break;
        expect([making, how, failing]).toEqual([making, how, making]);
      }
    }
    const kinds: string[] = [];
    const failed: string[] = [];
    const isDrawn = (request: string) => {
      if (!kinds.includes(request)) kinds.push(request);
      return (kinds.indexOf(request) + SEED) % OF < FAILING;
    };
    for (let run = 0; ; run += 1) {
      expect(run).toBeLessThan(MOST_RUNS);
      const how = WAYS[run % WAYS.length] ?? 'before';
      const { failing } = await runWith(
        request => isDrawn(request) && !failed.includes(request),
        how,
      );
      if (failing === '') break;
      failed.push(failing);
    }
    expect(kinds.length).toBeGreaterThan(12);
    expect(failed.toSorted()).toEqual(kinds.filter(isDrawn).toSorted());
    const { databases, namespaces, scripts } = cloudflare.account;
    expect([databases.size, namespaces.size, scripts.size]).toEqual([1, 1, 1]);
    const last = codeIn((await world.deploy(['--setup-code'])).text);
    const redeem = (code: string) =>
      fetch(`${world.origin}/setup`, { method: 'POST', body: new URLSearchParams({ code }) });
    expect((await redeem(address)).status).toBe(403);
    expect((await redeem(last)).status).toBe(201);
  },
  TIMEOUT_MS,
);
