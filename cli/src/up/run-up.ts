/**
 * Runs `portico up`: a gateway on a data folder, the programs of an `mcp.json` behind it, and its URLs registered. Decides the order of
 * start and end; however it ends, no process that it started is left.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { lockDataFolder } from '../../../local/data-lock.ts';
import type { ConfiguredServer } from '../../../local/config-file.ts';
import { startGateway } from '../../../local/gateway.ts';
import { readPackedFiles, type GatewayFiles } from '../../../local/gateway-files.ts';
import { openLogFile } from '../../../local/log-file.ts';
import { isFreePort } from '../../../local/ports.ts';
import { createApi } from '../../../local/api.ts';
import { drain } from '../../../local/draining.ts';
import { provideMemberToken } from '../../../local/member-token.ts';
import { announce } from '../../../local/running.ts';
import { loadSecrets, makeDataFolder } from '../../../local/secrets.ts';
import { readSettings } from '../../../local/settings.ts';
import { provideSignInLink } from '../../../local/sign-in-link.ts';
import { createChildAdapter } from '../connect/child-adapter.ts';
import type { ServerConfig } from '../connect/config.ts';
import { startRun, type Run } from '../connect/run.ts';
import type { View } from '../connect/view.ts';
import { EXIT, Failure } from '../failure.ts';
import { Api, SERVERS, type ServerRecord } from '../gateway/api.ts';
import { findHeldNote } from '../gateway/approvals.ts';
import type { Entries } from './entries.ts';
import { enrolSelf } from './own-connector.ts';
import { toNotes, whenSettled } from './settling.ts';

export interface UpOptions {
  entries: Entries;
  dataDir: string;
  /** 0: any free port. */
  port: number;
  environment: Readonly<Record<string, string | undefined>>;
  drainMs: number;
  /** How long to wait for servers before it reports that it is ready, in milliseconds. */
  settleMs: number;
  /** A person at a terminal reads the messages. */
  isOnTerminal: boolean;
  createView(origin: string): View;
}

export interface Up {
  origin: string;
  adminToken: string;
  /** The file with the admin token. */
  secretsFile: string;
  /** Link that signs the administrator in to the console; undefined where no person reads the messages. */
  signInLink: string | undefined;
  view: View;
  /** Settles when the programs have ended, after `stop` or because the gateway refuses the connector. */
  done: Promise<void>;
  /** Applies the current content of the file. @returns what was done, in words @throws Failure */
  update(entries: Entries): Promise<string>;
  /** Lets running requests end, then stops the gateway. */
  stop(): void;
  /** Ends all programs at once. */
  kill(): void;
}

const KEEPALIVE_MS = 20_000;
/** The gateway's files beside the packed command. */
const PACKED = fileURLToPath(new URL('gateway/', import.meta.url));
/** Not bundled, since it needs the tools of a checkout. */
const SOURCE = new URL('../../../local/source-files.ts', import.meta.url).href;

/** Starts the gateway, its programs and its view. @throws Failure or StartError with what to do */
export async function startUp(options: UpOptions): Promise<Up> {
  const { entries, dataDir, port, environment } = options;
  const settings = readSettings(environment);
  await makeDataFolder(dataDir);
  const unlock = lockDataFolder(dataDir);
  const closing: (() => unknown)[] = [unlock];
  const close = async () => {
    for (const end of closing.splice(0).toReversed()) await end();
  };
  try {
    if (port !== 0 && !(await isFreePort(port))) {
      throw new Failure(`port ${port} is taken; choose another with --port`, EXIT.failed);
    }
    const { PORTICO_ADMIN_TOKEN: wantedToken, PORTICO_KEYS: givenKeys } = environment;
    const secrets = await loadSecrets(dataDir, wantedToken || undefined, givenKeys);
    const log = openLogFile(join(dataDir, 'log'));
    const files = await loadGatewayFiles();
    const traces = environment['PORTICO_TRACE_DIR'];
    const gateway = { files, dataDir, port, secrets, settings, traces, log };
    const host = await startGateway(gateway, started => void closing.push(() => started.close()));
    const origin = host.url;
    closing.push(announce(dataDir, origin));
    const view = options.createView(origin);
    for (const text of entries.notes) view.note(text, 'busy');
    const api = new Api(new URL(origin), secrets.adminToken);
    let known = entries;
    const run = await startPrograms(options, origin, secrets.adminToken, view);
    closing.push(async () => {
      run.stop();
      await run.done.catch(() => {});
    });
    for (const text of await registerRemotes(api, entries.remotes)) view.note(text, 'busy');
    const names = [...entries.programs, ...entries.remotes].map(({ name }) => name);
    const settled = await whenSettled(
      {
        api,
        names,
        stateOf: run.stateOf,
        nameOf: run.nameOf,
        onCount: (there, all) => view.progress(`${there} of ${all} servers are connected`),
      },
      options.settleMs,
    );
    view.progress(undefined);
    for (const text of toNotes(settled, await findHeldNote(api))) view.note(text, 'busy');
    const ownApi = createApi(origin, secrets.adminToken);
    await provideMemberToken(secrets, ownApi);
    await secrets.markTokenSeen();
    let drained: Promise<void> | undefined;
    return {
      origin,
      adminToken: secrets.adminToken,
      secretsFile: secrets.file,
      signInLink: options.isOnTerminal
        ? await provideSignInLink(origin, secrets, ownApi)
        : undefined,
      view,
      done: run.done
        .catch(adviseRestart)
        .finally(() => drained)
        .finally(close),
      update: next => {
        const before = known;
        known = next;
        return applyEdit(next, before, { api, run, view });
      },
      stop() {
        drained = drain(host, options.drainMs, text => view.note(text, 'busy'));
        run.stop();
      },
      kill: run.kill,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function loadGatewayFiles(): Promise<GatewayFiles> {
  if (existsSync(PACKED)) return readPackedFiles(PACKED);
  const { readSourceFiles } = (await import(SOURCE)) as {
    readSourceFiles(): Promise<GatewayFiles>;
  };
  return readSourceFiles();
}

/** The next start takes the connector over, so the advice to enrol again is not for this command. */
function adviseRestart(error: unknown): never {
  if (!(error instanceof Failure) || error.exitCode !== EXIT.denied) throw error;
  throw new Failure(
    'the token of the connector of this machine was rotated or revoked; start portico up again',
    EXIT.denied,
  );
}

/** Programs follow the file. New URLs are registered; the registry keeps the others as they are. */
async function applyEdit(
  next: Entries,
  before: Entries,
  { api, run, view }: { api: Api; run: Run; view: View },
): Promise<string> {
  for (const text of next.notes) view.note(text, 'busy');
  const done = await run.update(next.programs);
  for (const text of await registerRemotes(api, next.remotes)) view.note(text, 'busy');
  const known = new Map(before.remotes.map(remote => [remote.name, remote]));
  for (const remote of next.remotes) {
    const former = known.get(remote.name);
    if (!former || isDeepStrictEqual(former, remote)) continue;
    view.note(`${remote.name} keeps its registered settings; see portico servers edit`, 'busy');
  }
  const added = next.remotes.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  return added.length === 0 ? done : `${done}; registered ${added.join(', ')}`;
}

/** Registers the servers that have a URL; existing ones stay unchanged. @returns a line for each that could not be registered */
async function registerRemotes(api: Api, remotes: readonly ConfiguredServer[]): Promise<string[]> {
  const registered = await api.list<ServerRecord>(SERVERS, 'servers');
  const known = new Set(registered.map(({ name }) => name.toLowerCase()));
  const made = remotes
    .filter(({ name }) => !known.has(name.toLowerCase()))
    .map(({ name, transportType, url, headers }) =>
      api
        .post(SERVERS, { name, transport_type: transportType, connection_config: { url, headers } })
        .then(
          () => [],
          (error: unknown) => [`${name} is not registered: ${(error as Error).message}`],
        ),
    );
  return (await Promise.all(made)).flat();
}

/** Runs the programs behind this command's own connector; without programs returns a run that only waits for `stop`. */
async function startPrograms(
  { entries, dataDir, drainMs }: UpOptions,
  origin: string,
  adminToken: string,
  view: View,
): Promise<Run> {
  if (entries.programs.length === 0) {
    const { promise: done, resolve: stop } = Promise.withResolvers<void>();
    const update = (servers: readonly ServerConfig[]) =>
      servers.length === 0
        ? Promise.resolve('no program changed')
        : Promise.reject(new Failure('restart portico up to run programs'));
    return { done, stop, kill: stop, update, stateOf: () => undefined, nameOf: name => name };
  }
  const token = await enrolSelf(dataDir, origin, adminToken);
  return startRun({
    origin,
    token,
    servers: entries.programs,
    createAdapter: createChildAdapter,
    view,
    isVerbose: false,
    keepaliveMs: KEEPALIVE_MS,
    drainMs,
  });
}
