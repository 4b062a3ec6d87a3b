/**
 * A folder of traces, one file of NDJSON each: what the Worker hands to the local host by a service binding. It is bounded in files and
 * bytes, with the oldest going; its files are for their user only. It writes nothing but names of its own form.
 */
import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';

export interface TraceFolderBounds {
  /** Most files. */
  maxFiles: number;
  /** Most bytes of all files. */
  maxBytes: number;
}

const USUAL_BOUNDS: TraceFolderBounds = { maxFiles: 1_000, maxBytes: 67_108_864 };
/** Largest trace, in bytes. */
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
 * What keeps traces in a folder, which is made with the first.
 * @returns answers `PUT /{name}`: 201 when it is there, 400 for what is no trace, 507 where it cannot be written
 */
export function createTraceFolder(
  folder: string,
  bounds: TraceFolderBounds = USUAL_BOUNDS,
): (request: Put) => Promise<{ status: number }> {
  let last: Promise<unknown> = Promise.resolve();
  async function keep(name: string, text: string): Promise<{ status: number }> {
    try {
      await makeFolder(folder);
      const draft = join(folder, `.${name}.${process.pid}`);
      await writeFile(draft, text, { mode: 0o600 });
      await rename(draft, join(folder, await freeName(folder, name)));
      await prune(folder, bounds);
      return { status: 201 };
    } catch {
      return { status: 507 };
    }
  }
  return async request => {
    const name = new URL(request.url).pathname.slice(1);
    const text = request.method === 'PUT' && NAME.test(name) ? await request.text() : '';
    if (text === '' || Buffer.byteLength(text) > MAX_TRACE_BYTES) return { status: 400 };
    // One after the other: two that prune at once would take more than they have to.
    const kept = last.then(() => keep(name, text));
    last = kept;
    return kept;
  };
}

/** Requests of one outer trace may begin at the same time. */
async function freeName(folder: string, name: string): Promise<string> {
  for (let at = 1; at < 100; at += 1) {
    const file = `${name}${at === 1 ? '' : `-${at}`}${TRACE_ENDING}`;
    if ((await stat(join(folder, file)).catch(() => undefined)) === undefined) return file;
  }
  return `${name}${TRACE_ENDING}`;
}

/** Names begin with the time, so their order is that of age. */
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
