/**
 * Starts a gateway on a data folder: the host with the folder's secrets and the settings of an environment. Returns it only once it
 * responds; if the Worker refuses a setting, the error says why.
 */
import { parseConfig } from '../src/config.ts';
import type { GatewayFiles } from './gateway-files.ts';
import { startHost, type Host } from './host.ts';
import { toFullDisk } from './full-disk.ts';
import type { LogFile } from './log-file.ts';
import type { Secrets } from './secrets.ts';
import { StartError } from './start-error.ts';
import { chooseTraceFolder } from './trace-folder.ts';

export interface GatewayOptions {
  files: GatewayFiles;
  dataDir: string;
  port: number;
  secrets: Pick<Secrets, 'keyRing' | 'adminToken'>;
  /** Settings of the Worker, already checked. */
  settings: Readonly<Record<string, string>>;
  /** Value of PORTICO_TRACE_DIR. */
  traces: string | undefined;
  log: LogFile;
}

/**
 * Starts a gateway and checks that it responds.
 * @param onStarted called with the host before the first request, so that a stop during the start can close it
 * @throws StartError with the reason
 */
export async function startGateway(
  { files, dataDir, port, secrets, settings, traces, log }: GatewayOptions,
  onStarted: (host: Host) => void = () => {},
): Promise<Host> {
  const traceDir = await chooseTraceFolder(traces, dataDir);
  let said: string | undefined;
  const host = await startHost({
    files,
    dataDir,
    port,
    traceDir,
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
