/** Keys and admin token of a data folder: created once, stored, private, never replaced by accident. */
import { spawnSync } from 'node:child_process';
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  addKey,
  loadSecrets,
  makeDataFolder,
  makeToken,
  readAdminToken,
} from '../../../local/secrets.ts';
import { provideMemberToken } from '../../../local/member-token.ts';

let parent: string;
let folder: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'portico-secrets-'));
  folder = join(parent, 'data');
  await makeDataFolder(folder);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(parent, { recursive: true });
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

it('[OPS-3] [ACC-1] creates 32 random bytes for the key and for the token, readable by the owner only', async () => {
  const { keyRing, adminToken, isTokenUnseen, file } = await loadSecrets(folder, undefined);
  const { active, keys } = JSON.parse(keyRing);
  expect(Buffer.from(keys[active], 'base64')).toHaveLength(32);
  expect(adminToken).toMatch(/^portico_[A-Za-z0-9_-]{43}$/);
  expect(isTokenUnseen).toBe(true);
  expect([await modeOf(folder), await modeOf(file)]).toEqual([0o700, 0o600]);
});

it('[OPS-3] keeps what exists, and knows whether the token was shown', async () => {
  const first = await loadSecrets(folder, undefined);
  await chmod(first.file, 0o644);
  const unseen = await loadSecrets(folder, undefined);
  expect(unseen).toMatchObject({ keyRing: first.keyRing, adminToken: first.adminToken });
  expect(unseen.isTokenUnseen).toBe(true);
  await unseen.markTokenSeen();
  const seen = await loadSecrets(folder, undefined);
  expect(seen).toMatchObject({ adminToken: first.adminToken, isTokenUnseen: false });
  expect(await modeOf(first.file)).toBe(0o600);
});

it('[OPS-3] takes the token from the environment and keeps the keys', async () => {
  const first = await loadSecrets(folder, undefined);
  await first.markTokenSeen();
  const wanted = makeToken();
  const second = await loadSecrets(folder, wanted);
  expect(second).toMatchObject({ keyRing: first.keyRing, adminToken: wanted, isTokenUnseen: true });
  expect((await loadSecrets(folder, undefined)).adminToken).toBe(wanted);
});

it.each(['', 'secret', 'portico_short', `portico_${'a'.repeat(44)}`, `portico_${'+'.repeat(43)}`])(
  '[OPS-3] refuses %j as a token, and does not repeat it',
  async token => {
    const refusal = expect.objectContaining({
      exitCode: 2,
      message:
        'PORTICO_ADMIN_TOKEN must be portico_ and 43 characters of base64url (32 random bytes).',
    });
    await expect(loadSecrets(folder, token)).rejects.toThrow(refusal);
  },
);

it.each(['', '{', '{}', '{"keyRing":{"active":"k2","keys":{}},"adminToken":"x"}'])(
  'never replaces a damaged file: %j',
  async text => {
    const file = join(folder, 'secrets.json');
    await writeFile(file, text);
    await expect(loadSecrets(folder, undefined)).rejects.toThrow('is damaged');
    expect(await readFile(file, 'utf8')).toBe(text);
  },
);

it('[SEC-1] [OPS-3] leaves the file to the owner of its folder, also if root adds a key', async () => {
  await loadSecrets(folder, undefined);
  const owner = process.getuid?.() === 0 ? 12_345 : (await stat(folder)).uid;
  for (const path of [folder, join(folder, 'secrets.json')]) await chown(path, owner, -1);
  await addKey(folder);
  expect((await stat(join(folder, 'secrets.json'))).uid).toBe(owner);
});

it('[SEC-1] [OPS-3] follows no link that the owner of the folder put where the file is written', async () => {
  await loadSecrets(folder, undefined);
  const other = join(parent, 'other');
  await writeFile(other, 'of root');
  await symlink(other, join(folder, 'secrets.json.new'));
  const { uid } = await stat(other);
  if (process.getuid?.() === 0) await chown(folder, 12_345, -1);
  await addKey(folder);
  expect(await readFile(other, 'utf8')).toBe('of root');
  expect((await stat(other)).uid).toBe(uid);
  expect(await readAdminToken(folder)).toBeDefined();
});

it('[SEC-1] [OPS-3] changes the mode of the file that it read, not of what its name leads to by then', async () => {
  const { file } = await loadSecrets(folder, undefined);
  const text = await readFile(file, 'utf8');
  await rm(file);
  spawnSync('mkfifo', ['-m', '644', file]);
  const other = join(parent, 'other');
  await writeFile(other, 'of root', { mode: 0o644 });
  const reading = loadSecrets(folder, undefined);
  const pipe = await open(file, 'w');
  await rm(file);
  await symlink(other, file);
  await pipe.writeFile(text);
  await pipe.close();
  await reading;
  expect(await modeOf(other)).toBe(0o644);
});

it.runIf(process.getuid?.() === 0)(
  '[SEC-1] [OPS-3] adds no key where root cannot leave the file to who reads it',
  async () => {
    const { file } = await loadSecrets(folder, undefined);
    const text = await readFile(file, 'utf8');
    for (const path of [folder, file]) await chown(path, 12_345, -1);
    const opened = await open(file);
    const denied = Object.assign(new Error('no'), { code: 'EPERM' });
    vi.spyOn(Object.getPrototypeOf(opened), 'chown').mockRejectedValue(denied);
    await opened.close();
    await expect(addKey(folder)).rejects.toThrow('since user 12345 could not read it any more');
    expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual([text, ['secrets.json']]);
    // A root that reads it itself may not give it away either.
    await chown(file, 0, -1);
    expect(await addKey(folder)).toMatchObject({ id: 'k2' });
  },
);

it('[SEC-1] [OPS-3] adds a key that becomes active at the next start, and keeps the others', async () => {
  const first = await loadSecrets(folder, undefined);
  const { keys: before } = JSON.parse(first.keyRing);
  expect(await addKey(folder)).toEqual({ id: 'k2', former: 'k1' });
  expect(await addKey(folder)).toEqual({ id: 'k3', former: 'k2' });
  await first.markTokenSeen();
  const later = await loadSecrets(folder, undefined);
  const { active, keys } = JSON.parse(later.keyRing);
  expect([active, Object.keys(keys), keys.k1]).toEqual(['k3', ['k1', 'k2', 'k3'], before.k1]);
  expect(new Set(Object.values(keys)).size).toBe(3);
  for (const key of Object.values<string>(keys))
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
  expect(later).toMatchObject({ adminToken: first.adminToken, isTokenUnseen: false });
  expect(await readAdminToken(folder)).toBe(first.adminToken);
  expect(await modeOf(later.file)).toBe(0o600);
});

it('[SEC-1] gives no new key the id of one that was removed from the ring', async () => {
  const { file } = await loadSecrets(folder, undefined);
  for (const id of ['k2', 'k3']) expect((await addKey(folder)).id).toBe(id);
  const secrets = JSON.parse(await readFile(file, 'utf8'));
  for (const id of ['k1', 'k2']) delete secrets.keyRing.keys[id];
  await writeFile(file, JSON.stringify(secrets));
  expect(await addKey(folder)).toEqual({ id: 'k4', former: 'k3' });
});

it('[SEC-1] makes no keys beside those of the environment, which it does not read', async () => {
  const keys = '{"active":"k1"}';
  await expect(loadSecrets(folder, undefined, keys)).rejects.toThrow('in secrets.json');
  const { keyRing } = await loadSecrets(folder, undefined, '');
  // A gateway that always had them in its environment goes on.
  expect((await loadSecrets(folder, undefined, keys)).keyRing).toBe(keyRing);
});

it.each(['tokens', 'principals', 'secrets'])(
  '[SEC-1] [OPS-4] makes no new keys for a database with %s whose keys are lost',
  async table => {
    const d1 = join(folder, 'storage', 'd1', 'objects');
    await mkdir(d1, { recursive: true });
    const database = new DatabaseSync(join(d1, 'a.sqlite'));
    database.exec(`CREATE TABLE ${table} (id TEXT)`);
    // Prepared, and not used yet.
    await loadSecrets(folder, undefined);
    database.exec(`INSERT INTO ${table} VALUES ('one')`);
    database.close();
    const { keyRing } = await loadSecrets(folder, undefined);
    const file = join(folder, 'secrets.json');
    await rename(file, `${file}.lost`);
    await expect(loadSecrets(folder, makeToken())).rejects.toThrow(`${file} is missing`);
    await rename(`${file}.lost`, file);
    expect((await loadSecrets(folder, undefined)).keyRing).toBe(keyRing);
  },
);

it('[OPS-3] adds no key if there is no key ring, or a damaged one', async () => {
  await expect(addKey(folder)).rejects.toThrow('does not exist');
  const file = join(folder, 'secrets.json');
  await writeFile(file, '{');
  await expect(addKey(folder)).rejects.toThrow('is damaged');
  expect(await readFile(file, 'utf8')).toBe('{');
});

it('[OPS-3] [ACC-2] stores the token of the first member, which is created once', async () => {
  const first = await loadSecrets(folder, undefined);
  expect(first.memberToken).toBeUndefined();
  const asked: object[] = [];
  let isRevoked = false;
  const api = {
    createToken: async (wanted: object) => {
      asked.push(wanted);
      return 'portico_of-a-member';
    },
    isTokenKnown: async () => !isRevoked,
  };
  expect(await provideMemberToken(first, api)).toBe('portico_of-a-member');
  await first.markTokenSeen();
  const later = await loadSecrets(folder, undefined);
  expect(await provideMemberToken(later, api)).toBe('portico_of-a-member');
  expect(asked).toEqual([{ name: 'first-member', scopes: ['tools:read', 'tools:call'] }]);
  expect(later).toMatchObject({ adminToken: first.adminToken, isTokenUnseen: false });
  // A revoked token stays revoked.
  isRevoked = true;
  expect(await provideMemberToken(later, api)).toBeUndefined();
  expect(asked).toHaveLength(1);
});

it('[OPS-3] starts without that token if the gateway does not create one', async () => {
  const secrets = await loadSecrets(folder, undefined);
  const createToken = () => Promise.reject(new Error('no'));
  const isTokenKnown = () => Promise.resolve(true);
  expect(await provideMemberToken(secrets, { createToken, isTokenKnown })).toBeUndefined();
});
