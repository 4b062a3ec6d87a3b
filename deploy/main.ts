/**
 * `npm run deploy`: puts the gateway on Cloudflare, or brings one that is there up to date (`help.txt`). Owns the command line, what the
 * terminal shows and the exit codes. No secret is in an argument, a line or a file that stays.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import type { Unstable_RawConfig } from 'wrangler';
import { readMigrations } from '../local/migrations.ts';
import { createSteps } from '../local/steps.ts';
import { createKeyRing } from '../src/shared/crypto/key-ring.ts';
import { IMPLEMENTATION } from '../src/shared/protocol.ts';
import { createCloudflare } from './cloudflare.ts';
import { StartError } from '../local/start-error.ts';
import { findAccount, findDeployment } from './find-deployment.ts';
import { openKeptFiles } from './kept-files.ts';
import { readOptions, type DeployOptions } from './options.ts';
import { toPlan, toPlanText } from './plan.ts';
import { useProxy } from './proxy.ts';
import { runPlan } from './run-plan.ts';
import { toTarget } from './target.ts';
import { createWrangler } from './wrangler.ts';
import { checkSettings, toDeploymentConfig } from './wrangler-config.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HELP = fileURLToPath(new URL('./help.txt', import.meta.url));
const API = 'https://api.cloudflare.com/client/v4';
const steps = createSteps(process.stdout);

async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const options = readOptions(args);
  if (options.isHelp) {
    process.stdout.write(readFileSync(HELP, 'utf8'));
    return 0;
  }
  const token = env['CLOUDFLARE_API_TOKEN'] ?? '';
  if (token === '') {
    throw new StartError(
      'CLOUDFLARE_API_TOKEN is missing: make one at dash.cloudflare.com/profile/api-tokens; --help says with which permissions',
      2,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new StartError('CLOUDFLARE_API_TOKEN has characters that no token has: copy it again', 2);
  }
  useProxy(env);
  const ownKeys = env['PORTICO_KEYS'];
  if (ownKeys !== undefined) checkKeys(ownKeys);
  const api = createCloudflare({ baseUrl: env['CLOUDFLARE_API_BASE_URL'] ?? API, token });
  const account = await steps.run('account found', () =>
    findAccount(api, env['CLOUDFLARE_ACCOUNT_ID']),
  );
  const project = await readProject();
  const target = toTarget(options, project, env);
  const folder = join(ROOT, '.portico', 'cloudflare', target.worker);
  // Before it looks: what another run makes meanwhile must not be overwritten, above all its keys.
  const files = options.isDryRun ? undefined : await openKeptFiles(folder);
  const found = await steps.run('looked at what is there', () =>
    findDeployment(api, account, target),
  );
  // What the upload keeps counts like what it brings.
  const { variables = {}, secrets = [] } = found.worker ?? {};
  checkSettings({ vars: { ...variables, ...project.vars } }, secrets);
  const migrations = (await readMigrations(join(ROOT, 'migrations'))).map(({ name }) => name);
  const vars = Object.keys(project.vars ?? {});
  const hasOwnKeys = ownKeys !== undefined;
  const plan = toPlan({ options, target, migrations, vars, hasOwnKeys }, found);
  const { version } = IMPLEMENTATION;
  steps.say(`\n${toPlanText(plan, version)}`);
  if (files === undefined) {
    steps.say('Nothing was done (--dry-run).');
    return 0;
  }
  if (!(await isConfirmed(options))) {
    steps.say('Nothing was done.');
    return 0;
  }
  const address = await runPlan(plan, found, options, target, {
    api,
    files,
    steps,
    account,
    version,
    writeConfig(ids) {
      const toRoot = `${relative(files.folder, ROOT)}/`;
      const config = toDeploymentConfig(project, options, target, ids, toRoot);
      return files.write('wrangler.json', config);
    },
    makeKeys: () => ownKeys ?? createKeys(),
    wrangler: createWrangler({
      command: join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js'),
      cwd: ROOT,
      account,
      env,
      logFile: files.logFile,
    }),
  });
  steps.say(`\nPortico is at ${plan.origin}/mcp`);
  if (address !== undefined) {
    steps.say(`Open this within a day, once, to become its administrator:\n\n  ${address}\n`);
  }
  return 0;
}

/** @throws StartError where it is no key ring; its value is not told */
function checkKeys(keys: string): void {
  try {
    createKeyRing(keys);
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), 2);
  }
}

const createKeys = (): string =>
  JSON.stringify({ active: 'k1', keys: { k1: randomBytes(32).toString('base64') } });

/** `wrangler.toml`, as wrangler reads it. */
async function readProject(): Promise<Unstable_RawConfig> {
  // Wrangler takes a second to load, which a refusal need not wait for.
  const { experimental_readRawConfig: readRawConfig } = await import('wrangler');
  return readRawConfig({ config: join(ROOT, 'wrangler.toml') }).rawConfig;
}

async function isConfirmed(options: DeployOptions): Promise<boolean> {
  if (options.isConfirmed || !process.stdin.isTTY || !process.stdout.isTTY) return true;
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  try {
    // Whoever presses Ctrl-C or ends the input does not go on.
    const isGone = once(prompt, 'close').then(() => '');
    const answer = prompt.question('Go on? [y/N] ').catch(() => '');
    return /^y(es)?$/i.test((await Promise.race([answer, isGone])).trim());
  } finally {
    prompt.close();
  }
}

const SIGNALS = [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;
for (const [signal, code] of SIGNALS) {
  process.once(signal, () => {
    process.stderr.write('\nStopped. What was made stays; run it again to go on.\n');
    process.exit(code);
  });
}

run(process.argv.slice(2), process.env)
  .then(code => (process.exitCode = code))
  .catch((error: unknown) => {
    const isOurs = error instanceof StartError;
    process.stderr.write(`✗ ${isOurs ? error.message : String(error)}\n`);
    if (isOurs && error.exitCode === 1 && !process.argv.includes('--dry-run')) {
      process.stderr.write('  What was made stays; run it again to go on.\n');
    }
    process.exitCode = isOurs ? error.exitCode : 1;
  });
