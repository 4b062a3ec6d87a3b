/** Ends a run when the user or the system asks for it: the first signal lets what runs end, the second does not. */
import { EXIT } from '../failure.ts';
import type { Run } from './run.ts';

/** How long a socket whose other end is silent may keep the process when all else has ended. */
const LINGER_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves when a run has ended after a signal; rejects as the run does. However the process ends, the programs end with it. */
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
