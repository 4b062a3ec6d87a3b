/** Runs the measurements of this folder in workerd, with counters in the Worker's code. They are no tests by themselves: tests run them. */
import { defineConfig } from 'vitest/config';
import { answerOutbound } from '../fixtures/outbound.ts';
import { inWorkerd, workerTests } from '../../vitest.config.ts';
import { countFunctions } from './count-functions.ts';

export default defineConfig({
  root: new URL('../../', import.meta.url).pathname,
  plugins: [inWorkerd(answerOutbound), countFunctions()],
  test: { ...workerTests, include: ['test/measure/files-*.ts'] },
});
