/**
 * `npm run keys`: new keys for a local gateway, and rotation of any gateway by its REST API, with progress.
 *
 * Owns the command line, what the terminal shows and the exit codes (`keys-help.txt`). Never shows a key or a token. A rotation
 * may be stopped and run again at any time: each request is whole, and what is done is not done again.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { lostKeys, PUT_BACK } from '../src/credentials/lost-keys.ts';
import { createKeysApi, rotateAll, type KeysApi, type KeysReport } from './rotate.ts';
import { addKey, readAdminToken } from './secrets.ts';
import { StartError, toLine } from './start-error.ts';
import { createSteps } from './steps.ts';

const HELP = fileURLToPath(new URL('./keys-help.txt', import.meta.url));
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SEE_HELP = 'See npm run keys -- --help';
const steps = createSteps(process.stdout);

function readArgs() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        url: { type: 'string', default: 'http://127.0.0.1:8787' },
        token: { type: 'string' },
        data: { type: 'string' },
        batch: { type: 'string', default: '50' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(/[.\n]/)[0] : String(error);
    throw new StartError(`${reason}. ${SEE_HELP}`, 2);
  }
}

async function run(): Promise<number> {
  const { values, positionals } = readArgs();
  const [command, ...more] = positionals;
  if (values.help) {
    process.stdout.write(readFileSync(HELP, 'utf8'));
    return 0;
  }
  const batch = /^\d{1,3}$/.test(values.batch) ? Number(values.batch) : 0;
  if (batch < 1 || batch > 200) throw new StartError('--batch must be from 1 to 200.', 2);
  if (more.length > 0) throw new StartError(`Unknown argument: ${more[0]}. ${SEE_HELP}`, 2);
  const userDir = process.env['INIT_CWD'] ?? process.cwd();
  const data = values.data === undefined ? join(ROOT, '.portico') : resolve(userDir, values.data);
  if (command === 'new') return makeKey(data);
  if (command !== 'rotate' && command !== 'status') {
    const what = command === undefined ? 'A command is missing' : `Unknown command: ${command}`;
    throw new StartError(`${what}. ${SEE_HELP}`, 2);
  }
  if (!URL.canParse(values.url)) throw new StartError(`--url is no URL: ${values.url}`, 2);
  const { origin, hostname } = new URL(values.url);
  // The token of a gateway on this machine is for nobody else.
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
  const stored = isHere ? await readAdminToken(data) : undefined;
  const token = values.token ?? process.env['PORTICO_ADMIN_TOKEN'] ?? stored ?? '';
  if (token === '') throw new StartError(`A token is missing. ${SEE_HELP}`, 2);
  const api = createKeysApi(origin, token);
  if (command === 'rotate') return rotate(api, batch);
  const report = await api.report();
  showReport(report);
  const lost = lostKeys(report.keys);
  for (const line of lost) process.stderr.write(`✗ ${line}: ${PUT_BACK}\n`);
  return lost.length > 0 ? 1 : 0;
}

async function makeKey(data: string): Promise<number> {
  const { id, former } = await addKey(data);
  steps.say(
    `Key ${id} is in the ring and active from the next start on; ${former} stays to open what is under it.`,
  );
  steps.say('Now start the gateway anew, then: npm run keys -- rotate');
  return 0;
}

async function rotate(api: KeysApi, batch: number): Promise<number> {
  const { unreadable, report } = await rotateAll(api, batch, ({ active, total, remaining }) => {
    const done = total - remaining;
    const share = total === 0 ? 100 : Math.floor((done / total) * 100);
    steps.say(`  ${String(share).padStart(3)} %  ${done} of ${total} under ${active}`);
  });
  showReport(report);
  if (report.remaining === 0) {
    steps.say(`${steps.style('green', '✓')} everything that is sealed is under ${report.active}`);
    return 0;
  }
  const why = unreadable > 0 ? `; ${unreadable} cannot be opened with the keys of the ring` : '';
  process.stderr.write(`✗ ${report.remaining} not under ${report.active}${why}\n`);
  return 1;
}

function showReport({ keys, active }: KeysReport): void {
  const head = ['key', 'secrets', 'servers', 'access tokens', 'tokens'];
  const rows = keys.map(key => [
    `${key.id}${key.id === active ? ' (active)' : key.in_ring ? '' : ' (not in the ring)'}`,
    ...[key.secrets, key.servers, key.access_tokens, key.tokens].map(String),
  ]);
  const widths = head.map((name, i) =>
    Math.max(name.length, ...rows.map(row => row[i]?.length ?? 0)),
  );
  const toText = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ');
  steps.say([head, ...rows].map(toText).join('\n'));
  const former = keys.filter(({ id, in_ring: isThere }) => isThere && id !== active);
  const tokens = former.reduce((sum, key) => sum + key.tokens, 0);
  if (tokens > 0) {
    steps.say(
      `${tokens} client tokens move to ${active} when they are next used; keep the former key for them.`,
    );
  }
}

process.once('SIGINT', () => {
  process.stderr.write('\nStopped. What was done stays done; run it again to go on.\n');
  process.exit(130);
});

run()
  .then(code => (process.exitCode = code))
  .catch((error: unknown) => {
    process.stderr.write(`✗ ${toLine(error)}\n`);
    process.exitCode = error instanceof StartError ? error.exitCode : 1;
  });
