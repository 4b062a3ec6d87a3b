/**
 * `portico rules`, `principals`, `groups`, `toolsets`, `secrets` and `keys` on a real gateway: one of each is created, shown, edited and
 * removed.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { runPortico, type Ran } from '../support/portico-command.ts';
import { startScripted } from '../support/scripted-gateway.ts';

const SECRET = 'a-value-that-nobody-may-see-4711';
const ORIGIN = 'https://docs.example.com';

let gateway: Gateway;
let folder: string;
/** A token that may list and call tools, nothing else. */
let member: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portico-resources-'));
  gateway = await startGateway();
  member = (await gateway.createToken({ name: 'member' })).token;
});

afterAll(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a command and checks that its output contains no secret. */
async function portico(words: string, more: { input?: string; env?: object } = {}): Promise<Ran> {
  const env = { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken, ...more.env };
  const ran = await runPortico(words.split(' '), { cwd: folder, env, input: more.input ?? '' });
  expect(`${ran.out}${ran.err}`).not.toContain(SECRET);
  return ran;
}

/** Runs a command that must succeed. @returns its output */
async function says(words: string, more?: Parameters<typeof portico>[1]): Promise<string> {
  const { code, out, err } = await portico(words, more);
  expect([code, out]).toEqual([0, '']);
  return err;
}

/** Checks that a command fails with one line that says why. */
async function refused(words: string, code: number, why: string | RegExp, input = '') {
  const ran = await portico(words, { input });
  expect([ran.code, ran.out]).toEqual([code, '']);
  expect(ran.err).toMatch(/^portico: [^\n]+\n$/);
  expect(ran.err).toMatch(why);
}

const json = async <T>(words: string): Promise<T> => (await portico(`${words} --json`)).json<T>();

it('[OPS-8] a principal is created, shown, edited and removed', async () => {
  const said = await says('principals add Ada --group staff --group on-call');
  expect(said).toBe(`principal 'Ada' is created\n`);
  expect(await json('principals show Ada')).toMatchObject({
    groups: ['on-call', 'staff'],
    scopes: null,
  });
  const { out } = await portico('principals');
  expect(out).toMatch(/^NAME +ID +TOKENS +SCOPES +GROUPS\n/);
  expect(out).toMatch(/^Ada +[0-9a-f-]{36} +0 +of each token +\S+ \S+$/m);
  const edit = 'principals edit Ada --name Eda --scope tools:read --from -';
  expect(await says(edit, { input: '{"groups":[]}' })).toBe(`principal 'Eda' is changed\n`);
  expect(await json('principals show Eda')).toMatchObject({ groups: [], scopes: ['tools:read'] });
  await refused('principals show Ada', 4, `there is no principal 'Ada'; see portico principals`);
  await refused(
    'principals edit Eda',
    2,
    'nothing to change is given; see portico principals edit --help',
  );
  await refused('principals edit Eda --group Staff!', 2, /groups\.0: use 1 to 63 of a-z/);
  await says('principals add Eda');
  await refused('principals remove Eda', 2, `several principals are called 'Eda'; use the id`);
  const all = await json<{ id: string; name: string }[]>('principals');
  const id = all.find(({ name }) => name === 'Eda')?.id;
  expect(await json(`principals remove ${id}`)).toEqual({ removed: id });
  expect(await says('principals remove Eda')).toBe(`principal 'Eda' is removed\n`);
  expect((await portico('principals')).out).not.toContain('Eda');
});

it('[OPS-8] [CLI-4] a token and an entry of the allow-list name their principal', async () => {
  await says('principals add Mira');
  const { id } = await json<{ id: string }>('principals show Mira');
  for (const name of ['Mira', id]) {
    const made = await json(`token create mira-laptop --principal ${name}`);
    expect(made).toMatchObject({ name: 'mira-laptop', principal: id });
  }
  const subject = { kind: 'principal', id };
  expect(await json('ask allow * search_* --principal Mira')).toMatchObject({ subject });
  for (const command of ['token create x', 'ask allow * get_*', 'client add cursor']) {
    await refused(`${command} --principal Mia`, 4, `there is no principal 'Mia'`);
  }
  await says('principals remove Mira');
});

it('[OPS-8] a rule is created, shown, edited and removed', async () => {
  expect(await says('rules')).toBe('no rules yet; portico rules add\n');
  await says('principals add Bob --group staff');
  const made = await json<{ id: string }>(
    'rules add --effect deny --subject principal:Bob --tool delete_* --read-only',
  );
  const { out } = await portico('rules');
  expect(out).toMatch(/^ID +EFFECT +SUBJECT +SERVER +TOOL +DESCRIPTION\n/);
  expect(out).toContain(`${made.id}  deny    principal:Bob  *       delete_* (read-only)`);
  const edit = `rules edit ${made.id} --subject group:staff --no-read-only --description of_all`;
  expect(await says(edit)).toBe(`rule ${made.id} is changed\n`);
  const shown = (await portico(`rules show ${made.id}`)).out;
  expect(shown).toMatch(/^subject +group:staff$/m);
  expect(shown).toMatch(/^read_only +false$/m);
  expect(shown).toMatch(/^description +of_all$/m);

  // Groups exist only as names in principals and rules.
  expect((await portico('groups')).out).toMatch(/^NAME +MEMBERS +RULES\nstaff +1 +1\n$/);
  expect((await portico('groups show staff')).out).toMatch(/^principals +Bob$/m);
  expect(await json('groups show staff')).toMatchObject({
    principals: [{ name: 'Bob' }],
    access_rules: [{ id: made.id }],
  });
  await refused('groups show nobody', 4, `there is no group 'nobody'; see portico groups`);

  await refused('rules add --effect deny --subject principal:Eve', 4, `no principal 'Eve'`);
  await refused('rules add --effect allow --subject everyone --server none', 2, /server: /);
  expect(await says(`rules remove ${made.id}`)).toBe(`rule ${made.id} is removed\n`);
  await says('principals remove Bob');
  expect(await says('groups')).toBe(
    'no groups yet; one exists once a principal or a rule names it\n',
  );
});

it('[OPS-8] a toolset is created, shown, edited and removed', async () => {
  await writeFile(
    join(folder, 'toolset.json'),
    JSON.stringify({ include: ['*.all_*'], members: { groups: ['staff'] }, tools: 'search' }),
  );
  const add = 'toolsets add triage --include *.get_* --include *.list_* --from toolset.json';
  expect(await says(add)).toBe(`toolset 'triage' is created\n`);
  // Options override the file.
  expect(await json('toolsets show triage')).toMatchObject({
    include: ['*.get_*', '*.list_*'],
    members: { groups: ['staff'] },
    tools: 'search',
  });
  expect((await portico('toolsets')).out).toMatch(
    /^triage +\/mcp\/toolsets\/triage +\*\.get_\* \*\.list_\*$/m,
  );
  const input = '{"members":null}';
  await says('toolsets edit triage --name reading --exclude *.get_secret --from -', { input });
  const edited = await json<object>('toolsets show reading');
  expect(edited).toMatchObject({ exclude: ['*.get_secret'], include: ['*.get_*', '*.list_*'] });
  expect(edited).not.toHaveProperty('members');
  await refused('toolsets add Reading --include *.x', 1, 'A toolset named Reading exists already');
  await refused('toolsets add empty', 2, /include: /);
  expect(await json('toolsets remove reading')).toEqual({ removed: expect.any(String) });
  expect(await says('toolsets')).toBe('no toolsets yet; portico toolsets add NAME\n');
});

it('[OPS-8] [SEC-1] a secret is set, shown without its value, and removed', async () => {
  const name = 'DOCS_TOKEN';
  const isValue = async (value: string) => {
    const body = { secrets: [{ name, value }] };
    const answer = await gateway.api('POST', '/api/v1/secrets/compare', body);
    return (answer.json['same'] as string[]).length === 1;
  };
  await refused(`secrets set ${name}`, 2, /is new; add --origin: where/, SECRET);
  await refused(`secrets set ${name} --origin ${ORIGIN} --from-env NONE`, 2, 'NONE is not set');
  await refused(`secrets set ${name} --origin ${ORIGIN}`, 2, /value: /, `${SECRET}\n${SECRET}`);
  const set = `secrets set ${name} --origin ${ORIGIN}`;
  expect(await says(set, { input: `${SECRET}\n` })).toBe(`secret '${name}' is created\n`);
  expect(await isValue(SECRET)).toBe(true);
  // Its origins stay if only a value is given.
  const env = { NEXT: `${SECRET}-next` };
  expect(await says(`secrets set ${name} --from-env NEXT`, { env })).toBe(
    `secret '${name}' has a new value\n`,
  );
  expect(await isValue(env.NEXT)).toBe(true);
  expect(await json(`secrets show ${name}`)).toMatchObject({
    name,
    origins: [ORIGIN],
    servers: [],
  });
  expect((await portico('secrets')).out).toMatch(/^DOCS_TOKEN +\d{4}-\d\d-\d\d +https:\S+$/m);
  expect(await says(`secrets remove ${name}`)).toBe(`secret '${name}' is removed\n`);
  await refused(`secrets remove ${name}`, 4, `there is no secret '${name}'; see portico secrets`);
});

it('[OPS-8] [SEC-1] a secret that somebody else sets meanwhile is not overwritten', async () => {
  const path = '/api/v1/secrets/SHARED';
  const other = ['https://docs.example.com', 'https://hub.example.com'];
  // Simulates a faster writer, between the command's read and its write.
  const meanwhile = await startScripted(({ method, url, headers, text }, response) => {
    const { authorization = '', 'if-match': match, 'if-none-match': none } = headers;
    const still = {
      ...(match ? { 'if-match': match } : {}),
      ...(none ? { 'if-none-match': none } : {}),
    };
    void (async () => {
      if (method === 'PUT') await gateway.api('PUT', path, { value: 'theirs', origins: other });
      const answer = await fetch(gateway.origin + url, {
        method,
        headers: { authorization, 'content-type': 'application/json', ...still },
        ...(method === 'GET' ? {} : { body: text }),
      });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(await answer.text());
    })();
  });
  const set = `secrets set SHARED --origin ${ORIGIN} --url ${meanwhile.origin}`;
  // The secret is new first, and then has another origin.
  for (const words of [set, `secrets set SHARED --url ${meanwhile.origin}`]) {
    await refused(words, 1, 'It was changed meanwhile; read it again', SECRET);
    expect(await json('secrets show SHARED')).toMatchObject({ origins: other });
  }
  await meanwhile.close();
  await says('secrets remove SHARED');
});

it('[OPS-8] [SEC-1] keys are shown by their ids only', async () => {
  await says(`secrets set COUNTED --origin ${ORIGIN}`, { input: SECRET });
  const { out } = await portico('keys');
  expect(out).toMatch(
    /^ID +STATE +SECRETS +SERVERS +ACCESS TOKENS +ACCOUNTS +TOKENS\nk1 +active +1 +0 +0 +0 +\d+\n$/,
  );
  const report = { active: 'k1', remaining: 0, keys: [{ id: 'k1', in_ring: true, secrets: 1 }] };
  expect(await json('keys')).toMatchObject(report);
  expect(await json('keys rotate')).toMatchObject(report);
  await refused('keys rotate --batch 0', 2, '--batch must be from 1 to 200');
  await refused('keys new --data nowhere', 1, 'does not exist');
  await says('secrets remove COUNTED');
});

it('[OPS-8] a caller without the right to administer is told so', async () => {
  for (const name of ['rules', 'principals', 'groups', 'toolsets', 'secrets', 'keys']) {
    const { code, out, err } = await portico(name, { env: { PORTICO_TOKEN: member } });
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(/^portico: [^\n]+\n$/);
  }
});
