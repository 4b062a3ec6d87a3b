/** The steps of a deployment for what already exists; and how its command line, configuration and failures are read. */
import { describe, expect, it } from 'vitest';
import { readOptions } from '../../../deploy/options.ts';
import { toPlan, toPlanText } from '../../../deploy/plan.ts';
import { toTarget } from '../../../deploy/target.ts';
import { toReason } from '../../../deploy/wrangler.ts';
import { checkSettings, toDeploymentConfig } from '../../../deploy/wrangler-config.ts';
import type { Found } from '../../../deploy/find-deployment.ts';

const MIGRATIONS = ['0001_a.sql', '0002_b.sql'];
const VARS = ['PORTICO_MODE'];
const plan = (found: Found, args: string[] = [], hasOwnKeys = false, env = {}) => {
  const options = readOptions(args);
  const target = toTarget(options, { name: 'portico' }, env);
  return toPlan({ options, target, migrations: MIGRATIONS, vars: VARS, hasOwnKeys }, found);
};
const database = (more: Partial<NonNullable<Found['database']>> = {}) => ({
  id: 'db',
  migrations: MIGRATIONS,
  tokens: 3,
  administrators: 1,
  ...more,
});
const worker = { secrets: ['PORTICO_KEYS'], variables: { PORTICO_MODE: 'production' } };
const whole: Found = { subdomain: 'acme', worker, database: database(), namespace: { id: 'kv' } };
const namesIn = ({ steps }: ReturnType<typeof plan>) => steps.map(({ name }) => name);

describe('a plan', () => {
  it('[OPS-4] creates everything if nothing exists', () => {
    const first = plan({ subdomain: 'acme' });
    const all = ['database', 'namespace', 'migrations', 'upload', 'health', 'setup'];
    expect([namesIn(first), first.needsKeys]).toEqual([all, true]);
    expect(first.origin).toBe('https://portico.acme.workers.dev');
    expect(toPlanText(first, '1.0.0')).toContain('apply 2 migrations');
  });

  it('[OPS-4] only uploads if everything exists, and notes a bookmark before a migration', () => {
    expect([namesIn(plan(whole)), plan(whole).needsKeys]).toEqual([['upload', 'health'], false]);
    const behind = { ...whole, database: database({ migrations: ['0001_a.sql'] }) };
    expect(namesIn(plan(behind))).toEqual(['bookmark', 'migrations', 'upload', 'health']);
    expect(plan(behind).pending).toEqual(['0002_b.sql']);
  });

  it('[OPS-4] continues where it was interrupted', () => {
    const empty = database({ migrations: [], tokens: 0, administrators: 0 });
    const broken: Found = { subdomain: 'acme', database: empty };
    const rest = ['namespace', 'migrations', 'upload', 'health', 'setup'];
    expect(namesIn(plan(broken))).toEqual(rest);
    const uploaded: Found = { ...whole, database: database({ tokens: 0, administrators: 0 }) };
    expect(namesIn(plan(uploaded))).toEqual(['upload', 'health', 'setup']);
  });

  it('[OPS-4] creates a setup code if there is no administrator, or if it is requested', () => {
    const nobody = { ...whole, database: database({ administrators: 0 }) };
    expect(namesIn(plan(nobody))).toContain('setup');
    const secrets = [...worker.secrets, 'PORTICO_ADMIN_TOKEN'];
    expect(namesIn(plan({ ...nobody, worker: { ...worker, secrets } }))).not.toContain('setup');
    expect(namesIn(plan(whole, ['--setup-code']))).toContain('setup');
  });

  it('[OPS-4] [SEC-1] never creates new keys for a database with tokens under other keys', () => {
    const { worker: _, ...orphaned } = whole;
    expect(() => plan(orphaned)).toThrow(/PORTICO_KEYS/);
    expect(plan(orphaned, [], true).needsKeys).toBe(true);
  });

  it('[OPS-4] rolls back over migrations that only add, and not over one that removes', () => {
    const at = (...more: string[]) =>
      plan({ ...whole, database: database({ migrations: [...MIGRATIONS, ...more] }) });
    const back = at('0003_c.sql', '0004_contract_0002_b.sql');
    expect(namesIn(back)).toEqual(['upload', 'health']);
    expect(toPlanText(back, '1.0.0')).toContain('keep 2 migrations of a newer version');
    const gone = '0004_contract_0003_c.sql';
    expect(() => at('0003_c.sql', gone)).toThrow(`${gone} removed`);
  });

  it('[OPS-4] [SEC-1] creates no keys in Cloudflare’s builder, where a person provides them', () => {
    const built = (found: Found) => plan(found, [], false, { WORKERS_CI: '1' });
    const empty = { ...whole, database: database({ migrations: [], tokens: 0 }) };
    const keyless = { ...worker, secrets: [] };
    expect(() => built({ ...empty, worker: keyless })).toThrow(/has no PORTICO_KEYS/);
    expect([built(empty).needsKeys, namesIn(built(empty))]).toEqual([
      false,
      ['migrations', 'upload', 'health'],
    ]);
  });

  it('[OPS-4] [SEC-1] keeps the keys of a Worker, and says so to whoever gives others', () => {
    expect(plan(whole, [], true).needsKeys).toBe(false);
    expect(toPlanText(plan(whole, [], true), '1.0.0')).toContain('PORTICO_KEYS is not used');
    expect(toPlanText(plan(whole), '1.0.0')).not.toContain('PORTICO_KEYS');
  });

  it('[OPS-4] says which variables of a Worker it keeps, never their values', () => {
    const keeping = (...names: string[]) => {
      const set = Object.fromEntries(names.map(name => [name, 'its value']));
      const variables = { ...worker.variables, ...set };
      return toPlanText(plan({ ...whole, worker: { ...worker, variables } }), '1.0.0');
    };
    expect(keeping()).not.toContain('variable');
    expect(keeping('PORTICO_POSTURE')).toContain('keep its variable PORTICO_POSTURE\n');
    expect(keeping('PORTICO_POSTURE', 'OTHER')).toContain(
      'keep its variables PORTICO_POSTURE, OTHER\n',
    );
    expect(keeping('PORTICO_POSTURE')).not.toContain('its value');
  });

  it('[OPS-4] refuses an account without an address', () => {
    const { subdomain: _, ...nameless } = whole;
    expect(() => plan(nameless)).toThrow(/--domain/);
    expect(plan(nameless, ['--domain', 'mcp.example.com']).origin).toBe('https://mcp.example.com');
  });
});

describe('the command line', () => {
  it('[OPS-4] accepts addresses', () => {
    expect(readOptions(['--url', 'https://x.example.com/']).url).toBe('https://x.example.com');
  });

  it.each([
    ['--name', 'Team'],
    ['--name', 'a'.repeat(64)],
    ['--domain', 'https://mcp.example.com'],
    ['--url', 'http://mcp.example.com'],
    ['--url', 'https://mcp.example.com/mcp'],
    ['--location', 'mars'],
    ['--placement', 'smart'],
    ['--placement', 'aws:EU!'],
    ['--what', 'ever'],
  ])('[OPS-4] refuses %s %s', (option, value) => {
    expect(() => readOptions([option, value])).toThrow(/--help/);
  });

  it('[OPS-4] refuses two places at once', () => {
    const both = ['--jurisdiction', 'eu', '--location', 'weur'];
    expect(() => readOptions(both)).toThrow('not both');
  });
});

describe('the names of a deployment', () => {
  const project = {
    name: 'team',
    d1_databases: [{ binding: 'DB', database_name: 'team-data', database_id: 'd' }],
    kv_namespaces: [{ binding: 'CATALOG', id: 'n' }],
  };
  const target = (args: string[], env = {}) => toTarget(readOptions(args), project, env);

  it('[OPS-4] come from wrangler.toml, with its ids, for its own Worker only', () => {
    const ids = { database: 'd', namespace: 'n' };
    expect(target([])).toEqual({
      worker: 'team',
      database: 'team-data',
      namespace: 'team-catalog',
      ids,
      isBuild: false,
    });
    const others = [
      ['--env', 'staging'],
      ['--name', 'other'],
      ['--name', 'x', '--env', 'y'],
    ];
    const names = ['team-staging', 'other', 'x-y'];
    expect(others.map(args => target(args).worker)).toEqual(names);
    expect(others.map(args => target(args).database)).toEqual(names);
    expect(others.map(args => target(args).ids)).toEqual([{}, {}, {}]);
  });

  it('[OPS-4] come from the builder if Cloudflare builds it', () => {
    const env = { WORKERS_CI: '1', WRANGLER_CI_OVERRIDE_NAME: 'theirs' };
    expect(target(['--env', 'x'], env)).toMatchObject({ worker: 'theirs', ids: {}, isBuild: true });
    expect(target([], { WRANGLER_CI_OVERRIDE_NAME: 'theirs' }).worker).toBe('team');
  });
});

describe('the configuration of a deployment', () => {
  const raw = {
    name: 'portico',
    main: 'src/index.ts',
    assets: { directory: 'dist/assets', binding: 'ASSETS' },
    d1_databases: [{ binding: 'DB', database_name: 'portico', migrations_dir: 'migrations' }],
    kv_namespaces: [{ binding: 'CATALOG' }],
  };
  const ids = { account: 'a', database: 'd', namespace: 'n' };
  const names = { worker: 'team', database: 'team' };

  it('[OPS-4] has the ids, its own name, and paths from its own folder', () => {
    const made = toDeploymentConfig(
      raw,
      { domain: undefined, placement: undefined },
      names,
      ids,
      '../../',
    );
    expect(made).toMatchObject({
      name: 'team',
      account_id: 'a',
      main: '../../src/index.ts',
      assets: { directory: '../../dist/assets', binding: 'ASSETS' },
      d1_databases: [
        { database_name: 'team', database_id: 'd', migrations_dir: '../../migrations' },
      ],
      kv_namespaces: [{ binding: 'CATALOG', id: 'n' }],
      workers_dev: true,
      keep_vars: true,
      secrets: { required: ['PORTICO_KEYS'] },
    });
    for (const absent of ['routes', 'placement']) expect(made).not.toHaveProperty(absent);
  });

  it('[OPS-4] [SEC-4] has settings that the Worker takes', () => {
    const mode = { PORTICO_MODE: 'production' };
    const check = (vars: Record<string, string>, ...secrets: string[]) =>
      checkSettings({ vars: { ...mode, ...vars } }, secrets);
    expect(() => check({ PORTICO_POSTURE: 'closed' })).not.toThrow();
    expect(() => check({ PORTICO_POSTUR: 'closed' }, 'PORTICO_POSTURE')).toThrow(
      'did you mean PORTICO_POSTURE? (wrangler.toml, [vars], or a variable of the Worker)',
    );
    // The other one may be a secret.
    const half = { PORTICO_MODEL_URL: 'https://models.example.com/v1' };
    expect(() => check(half, 'PORTICO_MODEL_KEY')).toThrow('both or neither');
    expect(() => check(half, 'PORTICO_MODEL')).not.toThrow();
  });

  it('[OPS-4] has the domain in place of workers.dev', () => {
    const own = { domain: 'mcp.example.com', placement: 'aws:eu-central-1' };
    expect(toDeploymentConfig(raw, own, names, ids, '../')).toMatchObject({
      workers_dev: false,
      routes: [{ pattern: 'mcp.example.com', custom_domain: true }],
      placement: { region: 'aws:eu-central-1' },
    });
  });
});

describe("wrangler's error output", () => {
  it('[OPS-4] is reported in one line', () => {
    const said =
      '\n⛅️ wrangler\n\u001B[31m✘ [ERROR] A request to the Cloudflare API (/x) failed.\u001B[0m\n\n  No room [code: 10023]\n\n  See the docs\n';
    expect(toReason(said)).toBe(
      'A request to the Cloudflare API (/x) failed. No room [code: 10023]',
    );
    expect(toReason('one\nlast words\n\n')).toBe('last words');
    expect(toReason('')).toBe('wrangler ended early');
  });
});
