/**
 * The test projects, from fastest to truest: `unit` (pure modules, in Node), `worker` (the Worker itself, in workerd,
 * with D1, KV and Durable Objects), `e2e` (real processes over loopback), `e2e-waiting` (those of them that mostly wait, for a time that
 * they hold the gateway to) and `e2e-timed` (those that hold something to a time, and work). They run one after the other; only the files
 * of `e2e-timed` have the machine to themselves.
 * PORTICO_TEST_REPORT names a file for a JSON report.
 */
import { fileURLToPath } from 'node:url';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { buildAssets } from './local/assets.ts';
import { answerOutbound } from './test/fixtures/outbound.ts';
import { PATIENT } from './test/fixtures/patient.ts';
import { SlowFirst } from './test/slow-first.ts';

/** What tests that draw random values read (`test/unit/seeded.ts`). The workers of a project do not see the process's variables. */
const DRAWS = ['PORTICO_TEST_SEED', 'PORTICO_TEST_SHARE', 'PORTICO_TEST_INTERLEAVINGS'];
const drawsEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => DRAWS.includes(name)),
);

// The processes that tests start are mostly short: to read their modules takes half of their time, or more.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('node_modules/.cache/node', import.meta.url),
);

const reportFile = process.env.PORTICO_TEST_REPORT;

/** Fixed credentials of the worker project. They are derived, not random, so that a failure can be replayed. */
const testKeys = {
  active: 'k1',
  keys: { k1: Buffer.alloc(32, 1).toString('base64') },
};
const testAdminToken = `portico_${Buffer.alloc(32, 2).toString('base64url')}`;

/** Files of unit tests that run at the same time. */
const AT_ONCE = 2;
/** Of other tests: each waits for one process or alarm after the other, so that two of them leave much of two cores idle. */
const WAITING_AT_ONCE = 4;
/** Of tests of the Worker, which wait the most: for the platform's own times. */
const IN_WORKERD_AT_ONCE = 6;
const namesOf = (names: readonly string[]) => names.map(name => `test/e2e/${name}.test.ts`);
/** End-to-end tests that hold the gateway to a time of some seconds, or of a minute, and mostly wait: all of them run at once. */
const WAITING = namesOf([
  'cli/plug',
  'credentials/rotation',
  'gateway/returns',
  'gateway/slow-person',
  'gateway/ten-thousand-tools',
]);
/** End-to-end tests that hold the gateway to a shorter time, or to a rate. */
const TIMED = namesOf([
  'access/access',
  'access/access-signs',
  'oauth/ended-grants',
  'api/api',
  'documents/stories-numbers',
  'cli/load',
  'cli/crowd',
  'cli/load-readers',
  'cli/stdio-pressure',
  'mcp/crowded-streams',
  'gateway/heap',
  'search/search',
  'search/skills-model',
]);
/** Of all projects of end-to-end tests. The times are for a machine that is busy: they guard against waiting for ever. */
const endToEnd = {
  environment: 'node',
  globalSetup: './test/e2e/setup.ts',
  testTimeout: 180_000,
  hookTimeout: 300_000,
  expect: { poll: PATIENT },
};

/** What runs the tests of the Worker, in workerd. */
export const inWorkerd = (outboundService: typeof answerOutbound) =>
  cloudflareTest(async () => ({
    wrangler: { configPath: './wrangler.toml' },
    miniflare: {
      // What workerd says of clients that hang up, which tests do.
      verbose: false,
      // Vitest's runner asks for this module; without the flag each file prints a warning.
      compatibilityFlags: ['enable_nodejs_inspector_module'],
      bindings: {
        PORTICO_MODE: 'local',
        PORTICO_KEYS: JSON.stringify(testKeys),
        PORTICO_ADMIN_TOKEN: testAdminToken,
        // A test that ends waits for what its calls have left to tell.
        PORTICO_REPORT_INTERVAL_MS: '50',
        PORTICO_AUDIT_GATHER_MS: '50',
        PORTICO_DRAIN_MS: '8000',
        PORTICO_LOG: 'off',
        TEST_MIGRATIONS: await readD1Migrations('./migrations'),
      },
      outboundService,
    },
  }));

export const workerTests = {
  name: 'worker',
  env: drawsEnv,
  maxWorkers: IN_WORKERD_AT_ONCE,
  // To load the Worker takes longer than most files: they share it, and `setup.ts` empties what it keeps.
  isolate: false,
  include: ['test/worker/**/*.test.ts'],
  setupFiles: ['./test/worker/setup.ts'],
  // For a machine that is busy; nothing here measures time.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: PATIENT },
  restoreMocks: true,
  sequence: { groupOrder: 2 },
};

// wrangler.toml names a folder of static files, which must be there.
buildAssets();

export default defineConfig({
  test: {
    reporters: reportFile ? ['default', ['json', { outputFile: reportFile }]] : ['default'],
    sequence: { sequencer: SlowFirst },
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
          maxWorkers: AT_ONCE,
          // Pure modules keep nothing that a test could see of another.
          isolate: false,
          // For a machine that is busy; nothing here measures time.
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: PATIENT },
          restoreMocks: true,
          sequence: { groupOrder: 1 },
        },
      },
      { plugins: [inWorkerd(answerOutbound)], test: workerTests },
      {
        test: {
          ...endToEnd,
          name: 'e2e',
          // A new process would load vitest and the SDKs for each file, which takes as long as many a file does.
          isolate: false,
          setupFiles: ['./test/e2e/file-setup.ts'],
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...WAITING, ...TIMED],
          maxWorkers: WAITING_AT_ONCE,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...endToEnd,
          name: 'e2e-waiting',
          include: WAITING,
          maxWorkers: WAITING.length,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          ...endToEnd,
          name: 'e2e-timed',
          include: TIMED,
          maxWorkers: 1,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});
