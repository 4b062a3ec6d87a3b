/** A second `portico up --stdio` on the same data folder joins the running gateway. */
import { FolderTaken, isFolderTaken } from '../../../local/data-lock.ts';
import { findRunning } from '../../../local/running.ts';
import { readAdminToken } from '../../../local/secrets.ts';

export interface Joined {
  origin: string;
  adminToken: string;
}

/** How long to wait for a gateway that is just starting, in milliseconds. */
const WAIT_MS = 60_000;

/**
 * Returns the gateway that uses the folder, once it serves.
 * @param error why this command could not start one
 * @returns undefined where it is gone by now, so that this command can start one
 * @throws the error where it has another cause, or no gateway serves there
 */
export async function joinRunning(error: unknown, dataDir: string): Promise<Joined | undefined> {
  if (!(error instanceof FolderTaken)) throw error;
  const origin = await findRunning(dataDir, () => isFolderTaken(dataDir), WAIT_MS);
  if (origin === undefined && !isFolderTaken(dataDir)) return undefined;
  const adminToken = origin && (await readAdminToken(dataDir));
  if (!origin || !adminToken) throw error;
  return { origin, adminToken };
}
