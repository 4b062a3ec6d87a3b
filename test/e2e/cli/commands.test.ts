/** The commands for people and programs against a real gateway: what they print, what they do there, how they end. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFixture, until, type Upstream } from '../../fixtures/start-fixture.ts';
import { startGateway, type Gateway } from '../support/gateway.ts';
import { MAIN, runPortico, type Ran, type RunOptions } from '../support/portico-command.ts';

let gateway: Gateway;
let upstream: Upstream;
let spare: Upstream;
let folder: string;
/** A token that may list and call tools, nothing else. */
let member: string;

beforeAll(async () => {
  [gateway, upstream, spare] = await Promise.all([
    startGateway(),
    startFixture('rich-modern'),
    startFixture('rich-legacy'),
  ]);
  folder = await mkdtemp(join(tmpdir(), 'portico-cli-'));
  await gateway.register('rich', `${upstream.origin}/mcp`);
  member = (await gateway.createToken({ name: 'member' })).token;
});

afterAll(async () => {
  await gateway?.stop();
  await Promise.all([upstream?.stop(), spare?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** Runs a command as the admin. */
const portico = (args: string[], options: RunOptions = {}): Promise<Ran> =>
  runPortico(args, {
    ...options,
    env: { PORTICO_URL: gateway.origin, PORTICO_TOKEN: gateway.adminToken, ...options.env },
  });
const asMember = (args: string[]) => portico(args, { env: { PORTICO_TOKEN: member } });

describe('tools', () => {
  it('[CLI-4] are listed and filtered', async () => {
    const { out } = await portico(['tools', 'PROGRESS']);
    expect(out.trimEnd().split('\n')).toEqual([
      'NAME        DESCRIPTION',
      'rich.steps  Three steps of progress, then a result',
    ]);
    const all = (await asMember(['tools', '--json'])).json<{ name: string }[]>();
    expect(all.map(({ name }) => name)).toContain('rich.echo');
    const own = await portico(['tools', 'echo', '--url', `${gateway.origin}/mcp/servers/rich`]);
    expect(own.out).toMatch(/^echo +/m);
    expect(await portico(['tools', 'nothing like it'])).toMatchObject({ code: 0, out: '' });
  });

  it('[CLI-4] show their parameters', async () => {
    const { out } = await portico(['tools', '--schema', 'rich__slow']);
    expect(out).toMatch(/^rich\.slow\n\nAnswers after a while\n/);
    expect(out).toMatch(/--ms +integer +\(required\)/);
    const help = await portico(['call', 'rich.slow', '--help']);
    expect(help.out).toBe(out);
    const json = await portico(['tools', '--schema', 'rich.slow', '--json']);
    expect(json.json()).toMatchObject({ name: 'rich.slow', inputSchema: { required: ['ms'] } });
  });
});

describe('call', () => {
  it("[CLI-4] takes flags, and prints the tool's text", async () => {
    const ran = await asMember(['call', 'rich.slow', '--ms', '1', '--message', 'hello there']);
    expect(ran).toMatchObject({ code: 0, out: 'Slow: hello there\n', err: '' });
  });

  it('[CLI-4] takes JSON from the command line, a file and standard input, and sends it unchanged', async () => {
    const text = '{"b": 12345678901234567890, "a": [1.50e3, "ü\\u00e9"], "b2": {}}';
    const file = join(folder, 'args.json');
    await writeFile(file, `${text}\n`);
    const mirrors = await Promise.all([
      portico(['call', 'rich.mirror', '--args', text]),
      portico(['call', '--args-file', file, 'rich.mirror']),
      portico(['call', 'rich.mirror', '--args-file', '-'], { input: text }),
    ]);
    expect(mirrors.map(({ out }) => out)).toEqual([`${text}\n`, `${text}\n`, `${text}\n`]);
  });

  it('[CLI-4] prints the whole result for programs, with all digits', async () => {
    const { out } = await portico(['call', 'rich.raw', '--json']);
    expect(out).toContain('12345678901234567890');
    const structured = await portico(['call', 'rich.structured', '--json']);
    expect(structured.json()).toMatchObject({ structuredContent: { celsius: 21.5 } });
  });

  it('[CLI-4] reports progress and content that is no text on standard error', async () => {
    const steps = await portico(['call', 'rich.steps']);
    expect(steps.out).toBe('done\n');
    expect(steps.err).toBe('progress 1/3\nprogress 2/3\nprogress 3/3\n');
    const image = await portico(['call', 'rich.ordered']);
    expect(image.out).toBe('first\nthird\n\n');
    expect(image.err).toMatch(
      /^\[image image\/png, \d+ bytes; --json has it\]\n\[audio audio\/wav/,
    );
  });

  it('[CLI-4] writes arguments into the headers that the tool requires', async () => {
    const { out } = await portico(['call', 'rich.mirrored', '--region', 'eu']);
    expect(JSON.parse(out)).toMatchObject({ 'mcp-param-region': 'eu' });
  });

  it.each([
    [['rich.refused'], 1, /rich\.refused reported an error/],
    [['rich.broken'], 1, /Broken on purpose/],
    [['rich.slow'], 2, /rich\.slow needs --ms/],
    [['rich.slow', '--ms', 'soon'], 2, /--ms must be a whole number/],
    [['rich.slow', '--msec', '1'], 2, /takes no --msec; it takes --ms, --message/],
    [['rich.slow', '--args', '[]'], 2, /must be one JSON object/],
    [['rich.slow', '--args-file', '/nowhere/at/all'], 2, /cannot be read \(ENOENT\)/],
    [['rich.slwo'], 4, /did you mean rich\.slow/],
    [['rich.slow', '--ms', '1', '--url', 'http://127.0.0.1:9'], 2, /takes no --url/],
  ])('[CLI-4] exits with the right code: %j', async (args, code, message) => {
    const ran = await portico(['call', ...args]);
    expect(ran.code).toBe(code);
    expect(ran.err).toMatch(message);
    expect(ran.err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('[CLI-4] prints the text of a tool that failed', async () => {
    expect((await portico(['call', 'rich.refused'])).out).toBe('The tool refused\n');
  });
});

it('[CLI-4] treats a reader that stops early as no error', async () => {
  const command = `'${process.execPath}' '${MAIN}' completion fish | true; echo \${PIPESTATUS[0]}`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command]);
  expect(stderr).toBe('');
  expect(['0\n', '141\n']).toContain(stdout);
});

describe('token', () => {
  it('[CLI-4] is created, listed and revoked, its value shown once', async () => {
    const made = await portico([
      'token',
      'create',
      'ada',
      '--server',
      'rich',
      '--tool',
      'rich.e*',
      '--expires',
      '1d',
    ]);
    expect(made.err).toBe("token 'ada' is created; its value is not shown again\n");
    const value = made.out.trim();
    const tools = await portico(['tools', '--json'], { env: { PORTICO_TOKEN: value } });
    const names = tools.json<{ name: string }[]>().map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(names.every(name => name.startsWith('rich.e'))).toBe(true);
    const list = await portico(['token', 'list']);
    expect(list.out).toMatch(/^ada +\S+ +\d{4}-\d\d-\d\d +.*tools:read tools:call$/m);
    expect(list.out).not.toContain(value);
    expect(await portico(['token', 'revoke', 'ada'])).toMatchObject({ code: 0, out: '' });
    await until('it is known no more', 60_000, async () => {
      const { code } = await portico(['tools'], { env: { PORTICO_TOKEN: value } });
      return code === 3 ? true : undefined;
    });
  });

  it('[CLI-4] gets a new value; the old one works for the grace time only', async () => {
    const value = (await portico(['token', 'create', 'ci'])).out.trim();
    const codeWith = async (token: string) =>
      (await portico(['tools'], { env: { PORTICO_TOKEN: token } })).code;
    const kept = await portico(['token', 'rotate', 'ci', '--grace', '1h']);
    expect(kept.err).toMatch(
      /^token 'ci' has a new value, .* the old one works until \d{4}-\S+\n$/,
    );
    const second = kept.out.trim();
    expect(await Promise.all([codeWith(value), codeWith(second)])).toEqual([0, 0]);
    const last = await portico(['token', 'rotate', 'ci', '--json']);
    expect(await codeWith(last.json<{ token: string }>().token)).toBe(0);
    await until('the old values work no more', 60_000, async () => {
      const codes = await Promise.all([codeWith(value), codeWith(second)]);
      return codes.every(code => code === 3) ? true : undefined;
    });
    expect(await portico(['token', 'rotate', 'ci', '--grace', '2d'])).toMatchObject({ code: 2 });
    expect((await portico(['token', 'rotate', 'cii'])).err).toContain('there is no token');
  });

  it('[CLI-4] requires the right to manage tokens', async () => {
    const ran = await asMember(['principals', 'add', 'more']);
    expect(ran).toMatchObject({ code: 3, out: '' });
    expect(ran.err).not.toContain(member);
    expect(await portico(['tools'], { env: { PORTICO_TOKEN: undefined } })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/PORTICO_TOKEN/),
    });
    const file = join(folder, 'token');
    await writeFile(file, `${member}\n`);
    const ok = await portico(['tools', '--token-file', file], { env: { PORTICO_TOKEN: '' } });
    expect(ok.code).toBe(0);
  });
});

describe('explain', () => {
  it('[CLI-4] says which step refuses a tool to a token, and what to change', async () => {
    await portico(['token', 'create', 'narrow', '--tool', 'rich.echo']);
    const refused = await portico(['explain', 'rich__slow', '--with-token', 'narrow']);
    expect(refused.code).toBe(0);
    expect(refused.out).toMatch(/^token_tools +refuses +It is outside the tools of the token$/m);
    expect(refused.err.split('\n').slice(0, 2)).toEqual([
      'rich__slow: lists do not have it, a call is refused with tool_not_found; decided by token_tools',
      'The token is for some tools only. Make one that is for this tool too.',
    ]);
    const allowed = await portico(['explain', 'rich.slow', '--principal', 'narrow', '--json']);
    expect(allowed.json()).toMatchObject({ is_allowed: true, is_listed: true, tool: 'slow' });
  });

  it('[CLI-4] names what is wrong in a question', async () => {
    const says = async (...args: string[]) => {
      const { code, err } = await portico(['explain', ...args]);
      return [code, err];
    };
    expect(await says('rich.echo')).toEqual([2, expect.stringContaining('--with-token')]);
    expect(await says('echo', '--principal', 'member')).toEqual([
      2,
      expect.stringContaining('SERVER.TOOL'),
    ]);
    expect(await says('rihc.echo', '--principal', 'member')).toEqual([
      4,
      "portico: there is no server 'rihc'; did you mean 'rich'?\n",
    ]);
    expect((await asMember(['explain', 'rich.echo', '--principal', 'member'])).code).toBe(3);
  });
});

describe('import', () => {
  const names = async () =>
    (await portico(['servers', '--json'])).json<{ name: string }[]>().map(({ name }) => name);

  it('[CLI-4] shows a plan, and applies it with --yes', async () => {
    const file = join(folder, 'mcp.json');
    const servers = {
      imported: { url: `${spare.origin}/mcp` },
      'with space': { url: `${spare.origin}/mcp` },
      files: { command: 'npx', args: ['-y', 'files'] },
    };
    await writeFile(file, `// of a client\n${JSON.stringify({ mcpServers: servers })}`);
    const plan = await portico(['import', file]);
    expect(plan).toMatchObject({ code: 0, err: 'this is only a plan; add --yes to apply it\n' });
    expect(plan.out).toMatch(/^NAME +ACTION +NOTES\nimported +create\nwith space → \S+ +create/);
    expect(plan.out).toMatch(/^files +unsupported +it is a program/m);
    expect(await names()).not.toContain('imported');
    const done = await portico(['import', file, '--yes', '--json']);
    expect(done.json()).toMatchObject({ dry_run: false });
    expect(await names()).toContain('imported');
    expect((await portico(['import', file, '--yes'])).out).toMatch(/^imported +skip/m);
  });

  it.each([
    ['{"mcpServers": {"a": {"url": 7}}}', /1 of 1 entries are invalid or failed/],
    ['{"a"', /JSON/],
  ])('[CLI-4] reports errors: %s', async (text, message) => {
    const ran = await portico(['import', '-'], { input: text });
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(message);
  });
});

it.each([
  ['--help'],
  ['servers', '--help'],
  ['servers', 'add', '--help'],
  ['tools', '--help'],
  ['search', '--help'],
  ['call', '--help'],
  ['token', 'create', '--help'],
  ['import', '--help'],
  ['doctor', '--help'],
  ['completion', '--help'],
  ['stdio', '--help'],
])('[CLI-4] prints help with examples: %s %s %s', async (...args) => {
  const { code, out, err } = await runPortico(args.filter(arg => typeof arg === 'string'));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(args.length === 1 ? /Commands:/ : /Examples?:\n/);
  expect(Math.max(...out.split('\n').map(line => line.length))).toBeLessThanOrEqual(80);
});
