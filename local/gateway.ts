/**
 * A gateway on a data folder: the host with the folder's secrets and the settings of an environment, sure to answer. A setting that
 * the Worker refuses becomes the reason why it does not.
 */
import { join, resolve } from 'node:path';
import { parseConfig } from '../src/config.ts';
import type { GatewayFiles } from './gateway-files.ts';
import { startHost, type Host } from './host.ts';
import { toFullDisk } from './full-disk.ts';
import type { LogFile } from './log-file.ts';
import type { Secrets } from './secrets.ts';
import { StartError } from './start-error.ts';

export interface GatewayOptions {
  files: GatewayFiles;
  dataDir: string;
  port: number;
  secrets: Pick<Secrets, 'keyRing' | 'adminToken'>;
  /** Settings of the Worker, checked. */
  settings: Readonly<Record<string, string>>;
  /** What PORTICO_TRACE_DIR says. */
  traces: string | undefined;
  log: LogFile;
}

/**
 * Start a gateway and make sure that it answers.
 * @param onStarted gets the host before it is asked anything, so that whoever stops can end it
 * @throws StartError with the reason
 */
export async function startGateway(
  { files, dataDir, port, secrets, settings, traces, log }: GatewayOptions,
  onStarted: (host: Host) => void = () => {},
): Promise<Host> {
  let said: string | undefined;
  const host = await startHost({
    files,
    dataDir,
    port,
    traceDir: toTraceDir(traces, dataDir),
    network: parseConfig({ PORTICO_MODE: 'local', ...settings }).network,
    log: {
      ...log,
      write(source, text) {
        said = text;
        log.write(source, text);
      },
    },
    env: {
      ...settings,
      PORTICO_KEYS: secrets.keyRing,
      PORTICO_ADMIN_TOKEN: secrets.adminToken,
    },
  }).catch(async error => {
    throw (await toFullDisk(error, dataDir)) ?? error;
  });
  onStarted(host);
  const response = await fetch(`${host.url}/health`);
  const text = await response.text();
  if (response.ok) return host;
  const reason = said?.split(/jsg\.\w+: /).at(-1) ?? text.slice(0, 200);
  throw new StartError(`The gateway answers ${response.status}: ${reason}`);
}

/** Where traces are kept: `off` is nowhere, and without a word it is beside the data. */
function toTraceDir(setting: string | undefined, dataDir: string): string | undefined {
  if (setting === 'off') return undefined;
  return setting ? resolve(setting) : join(dataDir, 'traces');
}
