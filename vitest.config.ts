/**
 * Three test projects, from fastest to truest: `unit` (pure modules, in Node), `worker` (the Worker itself, in workerd,
 * with D1, KV and Durable Objects) and `e2e` (real processes over loopback). They run one after the other, so that a
 * latency measured by one is not the noise of another. PORTICO_TEST_REPORT names a file for a JSON report.
 */
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { buildAssets } from './local/assets.ts';
import { answerOutbound } from './test/fixtures/outbound.ts';

/** The seed of tests that draw random values, where one is to be replayed (`test/unit/seeded.ts`), and how many they draw. */
const { PORTICO_TEST_SEED: seed, PORTICO_TEST_INTERLEAVINGS: interleavings } = process.env;

const reportFile = process.env.PORTICO_TEST_REPORT;

/** Fixed credentials of the worker project. They are derived, not random, so that a failure can be replayed. */
const testKeys = {
  active: 'k1',
  keys: { k1: Buffer.alloc(32, 1).toString('base64') },
};
const testAdminToken = `portico_${Buffer.alloc(32, 2).toString('base64url')}`;

// wrangler.toml names a folder of static files, which must be there.
buildAssets();

export default defineConfig({
  test: {
    reporters: reportFile ? ['default', ['json', { outputFile: reportFile }]] : ['default'],
    coverage: {
      provider: 'istanbul',
      include: ['src/**/*.ts'],
      reportsDirectory: 'coverage',
      reporter: ['text-summary', 'html'],
    },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          environment: 'node',
          // For a machine that is busy; nothing here measures time.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          restoreMocks: true,
          sequence: { groupOrder: 1 },
        },
      },
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              // Vitest's runner asks for this module; without the flag each file prints a warning.
              compatibilityFlags: ['enable_nodejs_inspector_module'],
              bindings: {
                PORTICO_MODE: 'local',
                PORTICO_KEYS: JSON.stringify(testKeys),
                PORTICO_ADMIN_TOKEN: testAdminToken,
                // A test that ends waits for what its calls have left to tell.
                PORTICO_REPORT_INTERVAL_MS: '50',
                PORTICO_DRAIN_MS: '8000',
                TEST_MIGRATIONS: await readD1Migrations('./migrations'),
              },
              outboundService: answerOutbound,
            },
          })),
        ],
        test: {
          name: 'worker',
          // The workers of this project do not see the variables of the process.
          env: {
            ...(seed === undefined ? {} : { PORTICO_TEST_SEED: seed }),
            ...(interleavings === undefined ? {} : { PORTICO_TEST_INTERLEAVINGS: interleavings }),
          },
          include: ['test/worker/**/*.test.ts'],
          setupFiles: ['./test/worker/setup.ts'],
          // For a machine that is busy; nothing here measures time.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          restoreMocks: true,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          environment: 'node',
          fileParallelism: false,
          // For a machine that is busy; they guard against waiting for ever.
          testTimeout: 180_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
