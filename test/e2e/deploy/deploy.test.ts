/**
 * A deployment from nothing to a call, and what may go wrong in between, with the real wrangler and our fake API. The upload runs in
 * workerd, so the built artefact itself answers.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Response as OutboundResponse } from 'miniflare';
import { createDeployWorld, type DeployWorld } from '../support/deploy.ts';
import { startFixture, stopAllFixtures, type Upstream } from '../../fixtures/start-fixture.ts';

let world: DeployWorld;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startFixture('rich-modern');
  world = await createDeployWorld(async request => {
    // The only public server.
    const url = new URL(request.url);
    if (url.hostname !== 'mcp.example.com') return new OutboundResponse(null, { status: 502 });
    const to = upstream.origin + url.pathname;
    const { method, headers } = request;
    const body = method === 'GET' ? {} : { body: await request.text() };
    const answer = await fetch(to, { method, headers: [...headers], ...body });
    return new OutboundResponse(await answer.text(), {
      status: answer.status,
      headers: [...answer.headers],
    });
  });
});

afterAll(async () => {
  await world.stop();
  await stopAllFixtures();
});

const api = async (token: string, method: string, path: string, body?: unknown) => {
  const response = await fetch(`${world.origin}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
};
const codeIn = (text: string): string => /\/setup#([\w-]{43})/.exec(text)?.[1] ?? '';
const setUp = (code: string) =>
  fetch(`${world.origin}/setup`, {
    method: 'POST',
    body: new URLSearchParams({ code, name: 'Ada' }),
  });
const changes = (seen: readonly string[]) => seen.filter(each => !each.startsWith('GET '));
const secretsOf = () => world.cloudflare.account.scripts.get(world.name)?.secrets ?? {};

describe('npm run deploy', () => {
  it('[OPS-4] prints what it would do and does nothing', async () => {
    const { code, text } = await world.deploy(['--dry-run']);
    expect([code, changes(world.cloudflare.seen)]).toEqual([0, []]);
    expect(text).toContain(`make the D1 database ${world.name}`);
    expect(text).toMatch(/apply \d+ migrations/);
    expect(text).toContain('Nothing was done');
  });

  it('[OPS-4] refuses what cannot work in one line, before anything is created', async () => {
    world.cloudflare.clear();
    const cases = [
      { args: ['--name', 'No Name'], env: {}, says: 'letters a to z', exit: 2 },
      { args: ['--frobnicate'], env: {}, says: 'Unknown option', exit: 2 },
      { args: ['--jurisdiction', 'mars'], env: {}, says: 'one of eu', exit: 2 },
      { args: [], env: { CLOUDFLARE_API_TOKEN: '' }, says: 'API_TOKEN is missing', exit: 2 },
      { args: [], env: { CLOUDFLARE_API_TOKEN: 'x' }, says: 'is not valid', exit: 1 },
      { args: [], env: { CLOUDFLARE_API_TOKEN: '“x”' }, says: 'copy it again', exit: 2 },
      { args: [], env: { CLOUDFLARE_ACCOUNT_ID: 'x' }, says: 'ACCOUNT_ID must be', exit: 2 },
      { args: [], env: { PORTICO_KEYS: '{"k":"sesame"}' }, says: 'PORTICO_KEYS must be', exit: 2 },
      { args: [], env: { HTTPS_PROXY: 'http://u:sesame@p:x' }, says: 'is no address', exit: 2 },
    ];
    for (const { args, env, says, exit } of cases) {
      const { code, text } = await world.deploy(args, env as Record<string, string>);
      expect([says, code, text.includes(says)]).toEqual([says, exit, true]);
      expect(text).not.toContain('sesame');
      expect(text).not.toContain('    at ');
    }
    expect(changes(world.cloudflare.seen)).toEqual([]);
  });

  it('[OPS-4] [OPS-3] goes from nothing to a call, and leaves no secret behind', async () => {
    world.cloudflare.clear();
    // What wrangler would obey, and the plan does not: another Worker, and another identity.
    const others = { CLOUDFLARE_ENV: 'staging', CLOUDFLARE_EMAIL: 'a@b.example' };
    const env = { ...others, CLOUDFLARE_API_KEY: 'of-somebody-else' };
    const { code, text } = await world.deploy(['--jurisdiction', 'eu'], env);
    expect([code, text]).toEqual([0, expect.stringContaining(`Portico is at ${world.origin}/mcp`)]);
    expect([...world.cloudflare.account.scripts.keys()]).toEqual([world.name]);
    const [database] = world.cloudflare.account.databases.values();
    expect(database?.body).toEqual({ name: world.name, jurisdiction: 'eu' });
    const ring = JSON.parse(secretsOf()['PORTICO_KEYS'] ?? '{}') as { keys: { k1: string } };
    const page = await (await setUp(codeIn(text))).text();
    const token = /portico_[\w-]{43}/.exec(page)?.[0] ?? '';
    const left = [text, await world.keptText(), ...world.seenArguments].join('\n');
    for (const secret of [ring.keys.k1, world.cloudflare.token, token]) {
      expect([secret.length > 10, left.includes(secret)]).toEqual([true, false]);
    }
    expect(await world.keptText()).not.toContain('secrets.json');

    const url = 'https://mcp.example.com/mcp';
    const server = { name: 'demo', transport_type: 'HTTP', connection_config: { url } };
    expect((await api(token, 'POST', '/api/v1/aggregator/servers', server)).status).toBe(201);
    await expect
      .poll(async () => (await api(token, 'GET', '/api/v1/aggregator/servers')).json, {
        timeout: 30_000,
      })
      .toMatchObject({ servers: [{ name: 'demo', status: 'CONNECTED' }] });
    const called = await api(token, 'POST', '/api/v1/tools/call', {
      name: 'demo.echo',
      arguments: { message: 'here' },
    });
    expect([called.status, JSON.stringify(called.json)]).toEqual([
      200,
      expect.stringContaining('here'),
    ]);
  });

  it('[OPS-4] changes only the Worker when it is run again, and none of its settings', async () => {
    const { cloudflare, deploy, name } = world;
    cloudflare.clear();
    const posture = { type: 'plain_text', name: 'PORTICO_POSTURE', text: 'closed' };
    cloudflare.account.scripts.get(name)?.upload.bindings.push(posture);
    const ring = secretsOf()['PORTICO_KEYS'];
    const versions = cloudflare.account.scripts.get(name)?.versions.size ?? 0;
    const { code, text } = await deploy();
    expect([code, text]).toEqual([0, expect.stringContaining('keep its keys')]);
    expect(text).toContain('keep its variable PORTICO_POSTURE\n');
    expect(codeIn(text)).toBe('');
    expect([cloudflare.account.databases.size, cloudflare.account.namespaces.size]).toEqual([1, 1]);
    expect(secretsOf()['PORTICO_KEYS']).toBe(ring);
    expect(cloudflare.account.scripts.get(name)?.versions.size).toBe(versions + 1);
    expect(changes(cloudflare.seen).filter(each => !/\/workers\/|\/query$/.test(each))).toEqual([]);
    expect(cloudflare.account.scripts.get(name)?.shares).toEqual([[100]]);
    expect(cloudflare.account.scripts.get(name)?.upload.placement).toBeUndefined();
    expect(cloudflare.account.scripts.get(name)?.upload.bindings).toContainEqual(posture);
  });

  it('[OPS-4] checks the settings together with those that the Worker keeps', async () => {
    const { cloudflare, deploy, name } = world;
    const bindings = cloudflare.account.scripts.get(name)?.upload.bindings ?? [];
    const set = (variable: string, text: string) =>
      bindings.push({ type: 'plain_text', name: variable, text });
    set('PORTICO_MODEL', 'some-model');
    cloudflare.clear();
    const half = await deploy(['--dry-run']);
    expect([half.code, half.text]).toEqual([2, expect.stringContaining('both or neither')]);
    expect(half.text).toContain('or a variable of the Worker');
    set('PORTICO_MODEL_URL', 'https://models.example.com/v1');
    expect((await deploy(['--dry-run'])).code).toBe(0);
    bindings.splice(-2);
    expect(changes(cloudflare.seen).filter(each => !each.endsWith('/query'))).toEqual([]);
  });

  it('[OPS-4] deploys new object classes to all requests at once', async () => {
    const { cloudflare, deploy, name } = world;
    const script = cloudflare.account.scripts.get(name);
    const tag = script?.migrationTag;
    if (script) script.migrationTag = 'v4';
    cloudflare.clear();
    const { code, text } = await deploy(['--placement', 'aws:eu-central-1']);
    expect([code, text]).toEqual([0, expect.stringContaining('to run near aws:eu-central-1')]);
    const placement = { mode: 'targeted', region: 'aws:eu-central-1' };
    expect(cloudflare.account.scripts.get(name)?.upload.placement).toEqual(placement);
    // Only the upload of a whole script accepts migrations of objects; it has no gradual shares.
    const uploads = changes(cloudflare.seen).filter(each =>
      /\/scripts\/[^/]+(\/versions|\/deployments)?$/.test(each),
    );
    expect(uploads).toEqual([`PUT /workers/scripts/${name}`]);
    expect(cloudflare.account.scripts.get(name)?.migrationTag).toBe(tag);
  });
});
