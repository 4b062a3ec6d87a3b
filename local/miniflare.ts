/**
 * Starts Miniflare quietly: no terminal output, nothing sent anywhere, signals left to the program. The output of workerd and the
 * Workers goes to the log.
 */
import { Log, LogLevel, Miniflare, convertV4MiniflareOptions } from 'miniflare';
import type { V4MiniflareOptions } from 'miniflare';
import type { LogFile } from './log-file.ts';
import { LOOPBACK } from './ports.ts';
import { findChildren, unwatch, watch } from './watchdog.ts';

/** Pids of all workerd processes of this process that the watchdog watches. */
const watched = new Set<number>();

/** Starts an instance; it serves when this resolves. If the start fails, whatever was started is ended. */
export async function startMiniflare(options: V4MiniflareOptions): Promise<Miniflare> {
  const instance = keepSignals(() => new Miniflare(convertV4MiniflareOptions(options)));
  try {
    await instance.ready;
    watchOver(instance);
    return instance;
  } catch (error) {
    await instance.dispose().catch(() => undefined);
    throw error;
  }
}

/** Registers the instance's workerd with the watchdog: without it, workerd would keep its port and storage after this process is killed. */
function watchOver(instance: Miniflare): void {
  const own = findChildren('workerd').filter(pid => !watched.has(pid));
  const dispose = instance.dispose.bind(instance);
  for (const pid of own) {
    watched.add(pid);
    watch(pid);
  }
  instance.dispose = async () => {
    await dispose();
    for (const pid of own) {
      watched.delete(pid);
      unwatch(pid);
    }
  };
}

/** Miniflare exits on a signal before anything else can end. Removes its handlers for signals that the program handles itself. */
function keepSignals<T>(create: () => T): T {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const before = new Map(signals.map(signal => [signal, process.listeners(signal)]));
  const created = create();
  for (const [signal, own] of before) {
    const added = process.listeners(signal).filter(listener => !own.includes(listener));
    if (own.length > 0) added.forEach(listener => process.removeListener(signal, listener));
  }
  return created;
}

/** Options of every instance: loopback, storage in a folder, a log, no telemetry. */
export function baseOptions(storage: string, log: LogFile | undefined) {
  return {
    host: LOOPBACK,
    port: 0,
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.NONE),
    resourcePersistencePath: storage,
    handleStructuredLogs: ({ level, message }: { level: string; message: string }) =>
      log?.write(`worker ${level}`, message),
  };
}

/** Whether an instance failed to start because a port was taken. */
export function isAddressInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_ADDRESS_IN_USE';
}
