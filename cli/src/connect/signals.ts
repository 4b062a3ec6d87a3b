/** Ends a run on a signal: the first one lets running requests end, a second one ends the process. */
import { EXIT } from '../failure.ts';
import type { Run } from './run.ts';

/** How long an unresponsive socket may keep the process alive once everything else has ended, in milliseconds. */
const LINGER_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves when a run has ended after a signal; rejects if the run does. The programs end with the process, however it ends. */
export async function untilSignalled(run: Pick<Run, 'done' | 'stop' | 'kill'>): Promise<void> {
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) process.exit(EXIT.failed);
    isStopping = true;
    run.stop();
  };
  process.on('exit', run.kill);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    await run.done;
  } finally {
    process.off('exit', run.kill);
    for (const signal of SIGNALS) process.off(signal, onSignal);
    setTimeout(() => process.exit(), LINGER_MS).unref();
  }
}
