/**
 * A folder of traces, each one NDJSON file, that the Worker passes to the local host through a service binding. The number of files and
 * their total size are bounded; the oldest are deleted first. Files are readable by their user only. Only names of its own form are
 * written.
 */
import { access, constants, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { StartError } from './start-error.ts';

export interface TraceFolderBounds {
  maxFiles: number;
  /** Maximum size of all files, in bytes. */
  maxBytes: number;
}

const USUAL_BOUNDS: TraceFolderBounds = { maxFiles: 1_000, maxBytes: 67_108_864 };
/** Maximum size of a trace, in bytes. */
const MAX_TRACE_BYTES = 4_194_304;
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-[0-9a-f]{32}$/;
export const TRACE_ENDING = '.ndjson';

/** The parts of a request that are read. */
interface Put {
  readonly method: string;
  readonly url: string;
  text(): Promise<string>;
}

/**
 * Chooses the folder by PORTICO_TRACE_DIR: none for `off`, beside the data if it is not set.
 * @throws StartError if a folder that is set cannot be written to: nothing would say later that each trace is lost
 */
export async function chooseTraceFolder(
  setting: string | undefined,
  dataDir: string,
): Promise<string | undefined> {
  if (setting === 'off') return undefined;
  if (!setting) return join(dataDir, 'traces');
  const folder = resolve(setting);
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(`PORTICO_TRACE_DIR: ${folder} cannot be written to (${code})`, 2);
  }
  return folder;
}

/**
 * Creates the handler that stores traces in a folder, which is created with the first trace.
 * @returns the handler of `PUT /{name}`: 201 if the trace was stored, 400 if it is not a trace, 507 if it cannot be written
 */
export function createTraceFolder(
  folder: string,
  bounds: TraceFolderBounds = USUAL_BOUNDS,
): (request: Put) => Promise<{ status: number }> {
  let last: Promise<unknown> = Promise.resolve();
  async function keep(name: string, text: string): Promise<{ status: number }> {
    const draft = join(folder, `.${name}.${process.pid}`);
    try {
      await makeFolder(folder);
      await writeFile(draft, text, { mode: 0o600 });
      await rename(draft, join(folder, await freeName(folder, name)));
      await prune(folder, bounds);
      return { status: 201 };
    } catch {
      await rm(draft, { force: true }).catch(() => undefined);
      return { status: 507 };
    }
  }
  return async request => {
    const name = new URL(request.url).pathname.slice(1);
    const text = request.method === 'PUT' && NAME.test(name) ? await request.text() : '';
    if (text === '' || Buffer.byteLength(text) > MAX_TRACE_BYTES) return { status: 400 };
    // Traces are stored one after the other: two concurrent prunes would delete too much.
    const kept = last.then(() => keep(name, text));
    last = kept;
    return kept;
  };
}

/** Returns a free name: requests of one outer trace may begin at the same time. */
async function freeName(folder: string, name: string): Promise<string> {
  for (let at = 1; at < 100; at += 1) {
    const file = `${name}${at === 1 ? '' : `-${at}`}${TRACE_ENDING}`;
    if ((await stat(join(folder, file)).catch(() => undefined)) === undefined) return file;
  }
  return `${name}${TRACE_ENDING}`;
}

/** Deletes the oldest files beyond the limits. Names begin with the time, so their order is that of age. */
async function prune(folder: string, { maxFiles, maxBytes }: TraceFolderBounds): Promise<void> {
  const names = (await readdir(folder)).filter(name => name.endsWith(TRACE_ENDING));
  let bytes = 0;
  let files = 0;
  for (const name of names.toSorted().toReversed()) {
    const path = join(folder, name);
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    bytes += size;
    files += 1;
    // The newest stays, whatever its size.
    if (files > 1 && (files > maxFiles || bytes > maxBytes)) await rm(path, { force: true });
  }
}
