/** Detects a full disk, which workerd reports only as an internal error. */
import { statfs } from 'node:fs/promises';
import { StartError } from './start-error.ts';

/** A new data folder takes some 4 MiB; if a start fails with less than this free, a full disk is the likely reason. */
const TIGHT_BYTES = 8_388_608;

/**
 * Returns the error for a failed start if a full disk of the data folder is the likely reason.
 * @param free returns how many bytes may still be written there
 * @returns undefined if it is not: the reason is known, or there is room
 */
export async function toFullDisk(
  cause: unknown,
  folder: string,
  free: (folder: string) => Promise<number> = readFree,
): Promise<StartError | undefined> {
  if (cause instanceof StartError) return undefined;
  const bytes = await free(folder).catch(() => Infinity);
  if (bytes >= TIGHT_BYTES) return undefined;
  return new StartError(
    `The disk of ${folder} is full (${Math.floor(bytes / 1024)} KiB are free). Make room there, or choose another one with --data DIR`,
  );
}

async function readFree(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
