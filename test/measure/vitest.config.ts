/** Runs the measurements of this folder in workerd, with coverage of the Worker's code. They are no tests by themselves: tests run them. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { answerOutbound } from '../fixtures/outbound.ts';
import { inWorkerd, workerTests } from '../../vitest.config.ts';

export default defineConfig({
  root: new URL('../../', import.meta.url).pathname,
  plugins: [inWorkerd(answerOutbound)],
  test: {
    ...workerTests,
    include: ['test/measure/files-*.ts'],
    coverage: {
      enabled: true,
      provider: 'istanbul',
      include: ['src/**/*.ts'],
      reporter: [],
      reportsDirectory: join(tmpdir(), `portico-measure-${process.pid}`),
    },
  },
});
