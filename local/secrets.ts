/**
 * The secrets of a local deployment: the key ring, the admin token and the first member's token, in `secrets.json` of the data folder.
 *
 * Owns: creating them once (32 random bytes each), their file (mode 0600, written whole or not at all) and the data folder (mode 0700 if
 * created here). An existing file is kept; only PORTICO_ADMIN_TOKEN of the environment and a new key change it.
 * Refuses a token of another format, a file it cannot read, and a database whose file is lost. It never replaces keys, because what they
 * sealed is lost without them.
 */
import { randomBytes } from 'node:crypto';
import { access, constants, open, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from './make-folder.ts';
import { StartError } from './start-error.ts';

const TOKEN_FORMAT = /^portico_[A-Za-z0-9_-]{43}$/;

export interface Secrets {
  /** Value of the Worker's PORTICO_KEYS. */
  keyRing: string;
  /** Value of the Worker's PORTICO_ADMIN_TOKEN. */
  adminToken: string;
  /** Whether the admin token was never shown: it is new, or the start that created it stopped before showing it. */
  isTokenUnseen: boolean;
  /** A token that lists and calls tools; undefined before it was created. */
  memberToken: string | undefined;
  /** The principal that the sign-in link of a start signs in; undefined before it was created. */
  administratorId: string | undefined;
  file: string;
  keepMemberToken(token: string): Promise<void>;
  keepAdministrator(id: string): Promise<void>;
  /** Records that the admin token was shown. */
  markTokenSeen(): Promise<void>;
}

interface StoredSecrets {
  keyRing: { active: string; keys: Record<string, string> };
  adminToken: string;
  /** Whether the admin token was shown on a terminal, which happens once. */
  isTokenSeen: boolean;
  memberToken?: string;
  administratorId?: string;
}

/** Creates a token in the format of all tokens. */
export function makeToken(): string {
  return `portico_${randomBytes(32).toString('base64url')}`;
}

/** Creates the data folder if it is missing. @throws StartError if it cannot be used */
export async function makeDataFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `The data folder ${folder} cannot be created (${code}); name another with --data DIR.`,
    );
  }
  await access(folder, constants.W_OK | constants.X_OK).catch(({ code }) => {
    throw new StartError(
      `The data folder ${folder} cannot be written to (${code}); start as its owner, or name another with --data DIR.`,
    );
  });
}

/**
 * Reads the secrets of a data folder, or creates them.
 * @param wantedToken PORTICO_ADMIN_TOKEN of the environment; it becomes the admin token
 * @param givenKeys PORTICO_KEYS of the environment, which only a deployment reads
 * @throws StartError for a token of another format, a file that cannot be read or written, or one that is lost
 */
export async function loadSecrets(
  folder: string,
  wantedToken: string | undefined,
  givenKeys?: string,
): Promise<Secrets> {
  if (wantedToken !== undefined && !TOKEN_FORMAT.test(wantedToken)) {
    throw new StartError(
      'PORTICO_ADMIN_TOKEN must be portico_ and 43 characters of base64url (32 random bytes).',
      2,
    );
  }
  const file = join(folder, 'secrets.json');
  const stored = await readSecrets(file, opened => opened.chmod(0o600));
  if (!stored && (await import('./holds-records.ts')).holdsRecords(folder)) {
    throw new StartError(
      `${file} is missing, and nothing else opens what is stored in ${folder}. Restore it from a copy, or start with another folder: --data DIR.`,
    );
  }
  if (!stored && givenKeys) {
    throw new StartError(
      'PORTICO_KEYS is only for a deployment; here the keys are in secrets.json of the data folder: remove it',
      2,
    );
  }
  const adminToken = wantedToken ?? stored?.adminToken ?? makeToken();
  const isNewToken = adminToken !== stored?.adminToken;
  const secrets: StoredSecrets = {
    keyRing: stored?.keyRing ?? {
      active: 'k1',
      keys: { k1: randomBytes(32).toString('base64') },
    },
    adminToken,
    isTokenSeen: !isNewToken && stored?.isTokenSeen === true,
    ...(stored?.memberToken === undefined ? {} : { memberToken: stored.memberToken }),
    ...(stored?.administratorId === undefined ? {} : { administratorId: stored.administratorId }),
  };
  const keep = async (change: Partial<StoredSecrets>) =>
    writeSecrets(file, { ...((await readSecrets(file)) ?? secrets), ...change });
  if (isNewToken) await writeSecrets(file, secrets);
  return {
    keyRing: JSON.stringify(secrets.keyRing),
    adminToken: secrets.adminToken,
    isTokenUnseen: !secrets.isTokenSeen,
    memberToken: secrets.memberToken,
    administratorId: secrets.administratorId,
    file,
    keepMemberToken: async token => keep({ memberToken: token }),
    keepAdministrator: async id => keep({ administratorId: id }),
    markTokenSeen: async () => keep({ isTokenSeen: true }),
  };
}

/**
 * Adds a key to the key ring of a data folder and makes it active; the gateway uses it from its next start.
 * @returns the ids of the new key and of the formerly active one
 * @throws StartError if there is no key ring yet, or the gateway could not read the file after that
 */
export async function addKey(folder: string): Promise<{ id: string; former: string }> {
  const file = join(folder, 'secrets.json');
  const secrets = await readSecrets(file);
  if (!secrets) throw new StartError(`${file} does not exist. Start the gateway once.`);
  const { active: former, keys } = secrets.keyRing;
  // Above all others, since a removed key's id must not come back: what is still under that key would count as readable.
  const numbers = Object.keys(keys).map(key => Number(/^k(\d{1,9})$/.exec(key)?.[1] ?? 0));
  const id = `k${Math.max(...numbers) + 1}`;
  const made = { ...keys, [id]: randomBytes(32).toString('base64') };
  const owner = (await stat(file)).uid;
  await writeSecrets(file, { ...secrets, keyRing: { active: id, keys: made } }, owner);
  return { id, former };
}

/** Reads the admin token of a data folder; undefined if there is none. */
export async function readAdminToken(folder: string): Promise<string | undefined> {
  return (await readSecrets(join(folder, 'secrets.json')))?.adminToken;
}

/** @param protect called with the file if it holds secrets: its path may lead elsewhere by then */
async function readSecrets(
  file: string,
  protect?: (opened: FileHandle) => Promise<void>,
): Promise<StoredSecrets | undefined> {
  let opened: FileHandle | undefined;
  try {
    opened = await open(file);
    const secrets = parseSecrets(await opened.readFile('utf8'), file);
    await protect?.(opened).catch(error => refuseWrite(file, error));
    return secrets;
  } catch (error) {
    if (error instanceof StartError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new StartError(`${file} cannot be read (${code}).`);
  } finally {
    await opened?.close();
  }
}

function parseSecrets(text: string, file: string): StoredSecrets {
  try {
    const secrets: StoredSecrets = JSON.parse(text);
    if (TOKEN_FORMAT.test(secrets.adminToken) && secrets.keyRing.active in secrets.keyRing.keys) {
      return secrets;
    }
  } catch {
    // Reported below, without the text of the file.
  }
  throw new StartError(
    `${file} is damaged. Restore it from a copy, or start with another folder: --data DIR.`,
  );
}

/** @param owner user id of who has to be able to read the file; absent: whoever writes it reads it */
async function writeSecrets(file: string, secrets: StoredSecrets, owner?: number): Promise<void> {
  const draft = `${file}.new`;
  try {
    await unlink(draft).catch(ignoreMissing);
    // Only a new file: the owner of the folder may have put a link there, to a file that only root may write.
    const opened = await open(draft, 'wx', 0o600);
    try {
      await opened.writeFile(`${JSON.stringify(secrets, null, 2)}\n`);
      await giveToOwner(opened, dirname(file), owner);
      if (owner !== undefined && (await opened.stat()).uid !== owner) {
        throw new StartError(
          `${file} stays as it was, since user ${owner} could not read it any more: run this as that user.`,
        );
      }
    } finally {
      await opened.close();
    }
    await rename(draft, file);
  } catch (error) {
    await unlink(draft).catch(() => {});
    if (!(error instanceof StartError)) refuseWrite(file, error as NodeJS.ErrnoException);
    throw error;
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Gives a file to who has to read it: the gateway of a service reads what root wrote. @param owner user id; absent: of the folder */
async function giveToOwner(file: FileHandle, folder: string, owner?: number): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  // Not every root may: one in a container, or on a network's disk, keeps the file and reads it.
  await file.chown(owner ?? uid, gid).catch(() => {});
}

/** Reports a full or read-only disk, or a folder of another user. */
function refuseWrite(file: string, { code }: NodeJS.ErrnoException): never {
  throw new StartError(`${file} cannot be written (${code}).`);
}
