/** The command rotates a key ring under load, with 1,000 secrets; and the canary appears only at its server. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { startKeyed, type KeyedUpstream } from '../support/keyed-upstream.ts';
import { runPortico } from '../support/portico-command.ts';
import { openModern, resultOf } from '../support/raw-client.ts';

const SECRETS = 1_000;
const CALLS_PER_SECOND = 50;
const CANARY = 'canary-0ddba11';
const CLIENT_SECRET = `${CANARY}-client`;

let data: string;
let upstream: KeyedUpstream;
let gateway: Gateway;
let members: string[];
const said: string[] = [];

const restart = async () => {
  said.push(gateway.output());
  await gateway.stop();
  gateway = await startGateway({ data, adminToken: gateway.adminToken });
};

/** Runs the command and keeps its output. */
async function runKeys(...args: string[]): Promise<{ code: number | null; text: string }> {
  const env = { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken };
  const { code, out, err } = await runPortico(['keys', ...args], { env });
  const text = `${out}${err}`;
  said.push(text);
  return { code, text };
}

interface KeysReport {
  active: string;
  remaining: number;
  tokens_remaining: number;
  keys: { id: string; secrets: number; servers: number; access_tokens: number; tokens: number }[];
}
const report = async () => (await gateway.api('GET', '/api/v1/keys')).json as unknown as KeysReport;

async function call(server: string, token: string): Promise<string> {
  const client = openModern({ url: `${gateway.origin}/mcp`, token });
  const answer = await client.call(`${server}.echo`, {}).catch(String);
  if (typeof answer === 'string') return answer;
  return answer.status === 200 ? JSON.stringify(resultOf(answer).content) : `${answer.status}`;
}
const SERVED = '[{"type":"text","text":"served"}]';

/** Calls at a steady rate until it is ended; returns the result of each call. */
function load(): () => Promise<string[]> {
  const calls: Promise<string>[] = [];
  let open = 0;
  const timer = setInterval(() => {
    // A busy machine gets no more calls than it answers.
    if (open >= CALLS_PER_SECOND) return;
    open += 1;
    const i = calls.length;
    const made = call(i % 2 === 0 ? 'keyed' : 'granted', members[i % members.length] ?? '');
    calls.push(made.finally(() => (open -= 1)));
  }, 1_000 / CALLS_PER_SECOND);
  return () => {
    clearInterval(timer);
    return Promise.all(calls);
  };
}

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'portico-rotation-'));
  upstream = await startKeyed(CANARY, CLIENT_SECRET);
  gateway = await startGateway({ data });
  const origins = [upstream.origin];
  const put = async (name: string, value: string) => {
    const { status } = await gateway.api('PUT', `/api/v1/secrets/${name}`, { value, origins });
    expect(status).toBe(200);
  };
  await put('KEY', CANARY);
  await put('CLIENT_SECRET', CLIENT_SECRET);
  for (let i = 2; i < SECRETS; i += 1) await put(`S${i}`, `${CANARY}-${i}`);
  await gateway.register('keyed', `${upstream.origin}/mcp`, { headers: { 'X-Key': '${KEY}' } });
  const auth = {
    type: 'client_credentials',
    client_id: 'portico',
    client_secret: '${CLIENT_SECRET}',
    token_url: `${upstream.origin}/token`,
  };
  const made = await gateway.api('POST', '/api/v1/aggregator/servers', {
    name: 'granted',
    transport_type: 'HTTP',
    connection_config: { url: `${upstream.origin}/mcp`, auth },
  });
  await gateway.waitFor(String(made.json['id']), 'CONNECTED');
  const tokens = Array.from({ length: 5 }, (_, i) => gateway.createToken({ name: `member ${i}` }));
  members = (await Promise.all(tokens)).map(({ token }) => token);
}, 300_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
  await rm(data, { recursive: true, force: true });
});

describe('a key ring', () => {
  it('[SEC-1] is rotated under 50 calls a second: no call fails, and nothing stays under the old key', async () => {
    const refusedBefore = upstream.refused;
    const made = await runKeys('new', '--data', data);
    expect(made).toMatchObject({ code: 0, text: expect.stringContaining('key k2 is in the ring') });
    await restart();
    // The tokens of the members: the token that the start keeps for clients is used at the start, and moves to the new key by that.
    const before = await until('the token of the start has moved', 60_000, async () => {
      const reported = await report();
      return reported.tokens_remaining === 5 ? reported : undefined;
    });
    expect(before).toMatchObject({ active: 'k2' });
    expect(before.keys.find(({ id }) => id === 'k1')).toMatchObject({ secrets: SECRETS });

    const end = load();
    const rotated = await runKeys('rotate', '--batch', '50');
    await new Promise(resolve => setTimeout(resolve, 1_000));
    const results = await end();

    expect(rotated.text).toContain('everything is sealed with k2');
    // Beside the secrets: headers of one server, credential of the other, and its access token.
    expect(rotated.text).toContain(`100 %  ${SECRETS + 3} of ${SECRETS + 3} sealed with k2`);
    expect(rotated.code).toBe(0);
    expect(results.length).toBeGreaterThan(CALLS_PER_SECOND);
    expect(results.filter(result => result !== SERVED)).toEqual([]);
    expect(upstream.refused).toBe(refusedBefore);
    const after = await report();
    expect(after).toMatchObject({ active: 'k2', remaining: 0, tokens_remaining: 0 });
    const [active, former] = after.keys;
    expect(active).toMatchObject({ id: 'k2', secrets: SECRETS, servers: 2, tokens: 6 });
    expect(former).toMatchObject({ id: 'k1', secrets: 0, servers: 0, access_tokens: 0, tokens: 0 });
    expect(await runKeys('rotate')).toMatchObject({ code: 0 });
  }, 300_000);

  it('[SEC-1] works without the old key afterwards: servers and tokens work', async () => {
    const file = join(data, 'secrets.json');
    const stored = JSON.parse(await readFile(file, 'utf8')) as {
      keyRing: { keys: Record<string, string> };
    };
    delete stored.keyRing.keys['k1'];
    await writeFile(file, JSON.stringify(stored));
    await restart();
    for (const member of members) {
      expect([await call('keyed', member), await call('granted', member)]).toEqual([
        SERVED,
        SERVED,
      ]);
    }
    expect(upstream.tokens).toHaveLength(1);
  }, 300_000);

  it('[SEC-1] reports at once what cannot be opened if a key was removed too early', async () => {
    const file = join(data, 'secrets.json');
    const whole = await readFile(file, 'utf8');
    const stored = JSON.parse(whole) as { keyRing: { active: string; keys: object } };
    const ring = { active: 'k3', keys: { k3: randomBytes(32).toString('base64') } };
    await writeFile(file, JSON.stringify({ ...stored, keyRing: ring }));
    await restart();
    const { code, text } = await runKeys('list');
    expect(text).toContain(`key k2 is not in the ring, and ${SECRETS} secrets, 2 servers`);
    expect(text).not.toContain('keep the former key');
    expect(code).toBe(1);
    await writeFile(file, whole);
    await restart();
    expect(await runKeys('list')).toMatchObject({ code: 0 });
  }, 300_000);

  it('[SEC-1] [SEC-2] keeps the canary out of every response, log line and raw byte of storage', async () => {
    const paths = ['secrets', 'keys', 'aggregator/servers', 'tokens', 'tools'];
    for (const path of paths) said.push((await gateway.api('GET', `/api/v1/${path}`)).text);
    said.push((await gateway.api('GET', '/openapi.json')).text);
    said.push(gateway.output());
    await gateway.stop();
    const hidden = [CANARY, ...upstream.tokens];
    for (const text of said) for (const word of hidden) expect(text).not.toContain(word);

    const entries = await readdir(data, { recursive: true, withFileTypes: true });
    const files = entries.filter(entry => entry.isFile());
    expect(files.some(({ name }) => name.endsWith('.sqlite'))).toBe(true);
    for (const { parentPath, name } of files) {
      const bytes = await readFile(join(parentPath, name));
      for (const word of hidden) {
        expect([name, bytes.includes(word), bytes.includes(btoa(word))]).toEqual([
          name,
          false,
          false,
        ]);
      }
    }
    const old = files
      .filter(({ name, parentPath }) => name.endsWith('.sqlite') && parentPath.includes('d1'))
      .map(({ name, parentPath }) => countOld(join(parentPath, name)));
    expect(old.filter(count => count !== undefined)).toEqual([{ rows: SECRETS, old: 0 }]);
  }, 300_000);
});

/** Counts the secrets in a database file, and those under the old key; undefined if the file has no such table. */
function countOld(file: string): { rows: number; old: number } | undefined {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const sql =
      "SELECT count(*) AS rows, coalesce(sum(sealed LIKE '1:k1.%'), 0) AS old FROM secrets";
    return { ...database.prepare(sql).get() } as { rows: number; old: number };
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}
