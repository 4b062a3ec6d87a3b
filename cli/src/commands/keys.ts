/**
 * `portico keys`: shows which key of the ring seals what, and rotates keys. Keys never leave the gateway; `new` writes one into the data
 * folder of a gateway on this machine.
 */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { lostKeys, PUT_BACK } from '../../../src/credentials/lost-keys.ts';
import { EXIT, Failure } from '../failure.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { keysOf, rotateAll, type KeysView } from '../keys/rotate.ts';
import { note, writeJson, writeTable } from '../terminal.ts';

const HELP = `
Examples:
  portico keys
  portico keys new              then stop the gateway and start it again
  portico keys rotate`;

const NEW_HELP = `
The new key is active from the next start of the gateway; the former key stays
to open what it sealed. On Cloudflare the ring is the secret PORTICO_KEYS of the
Worker: replace it twice, with the new key added and then active
(docs/operations.md).

Examples:
  portico keys new
  portico keys new --data /var/lib/portico`;

const ROTATE_HELP = `
Calls continue meanwhile. Ctrl-C stops; run it again to continue. Exit code 1 if
something cannot be sealed with the active key.

Examples:
  portico keys rotate
  portico keys rotate --batch 200`;

const LIST_HELP = `
Exit code 1 if something is sealed with a key that is not in the ring.

Example:
  portico keys list`;

/** Adds `keys`. */
export function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .summary('show which key seals what, and rotate keys')
    .description('Show which key of the gateway seals what, and rotate keys.')
    .addHelpText('after', HELP);
  const all = keys.command('list', { isDefault: true });
  shown(all.description('List the keys, and how much each seals.').addHelpText('after', LIST_HELP));
  all.action(list);
  const rotate = keys
    .command('rotate')
    .description('Seal everything again with the active key.')
    .option('--batch <records>', 'records per request, 1 to 200', '50')
    .addHelpText('after', ROTATE_HELP);
  shown(rotate).action(rotateKeys);
  keys
    .command('new')
    .description('Add a key to the ring of a gateway on this machine.')
    .option('--data <folder>', 'the data folder', '.portico')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', NEW_HELP)
    .action(makeKey);
}

async function list(options: Options): Promise<void> {
  const report = await keysOf(apiOf(options)).report();
  await show(report, options);
  const lost = lostKeys(report.keys);
  if (lost.length > 0) throw new Failure(`${lost.join('; ')}: ${PUT_BACK}`);
}

async function rotateKeys({ batch, ...options }: Options & { batch: string }): Promise<void> {
  const limit = /^\d{1,3}$/.test(batch) ? Number(batch) : 0;
  if (limit < 1 || limit > 200) throw new Failure('--batch must be from 1 to 200', EXIT.usage);
  const keys = keysOf(apiOf(options));
  const { unreadable, report } = await rotateAll(keys, limit, ({ active, total, remaining }) => {
    const done = total - remaining;
    const share = total === 0 ? 100 : Math.floor((done / total) * 100);
    note(`${String(share).padStart(3)} %  ${done} of ${total} sealed with ${active}`);
  });
  await show(report, options);
  if (report.remaining > 0) {
    const why = unreadable > 0 ? `; ${unreadable} cannot be opened with the keys of the ring` : '';
    throw new Failure(`${report.remaining} not sealed with ${report.active}${why}`);
  }
  note(`everything is sealed with ${report.active}`);
}

async function show(report: KeysView, { json }: Options): Promise<void> {
  if (json) return writeJson(report);
  const { keys, active } = report;
  const rows = keys.map(key => [
    key.id,
    key.id === active ? 'active' : key.in_ring ? 'former' : 'missing',
    ...[key.secrets, key.servers, key.access_tokens, key.accounts, key.tokens].map(String),
  ]);
  await writeTable(
    ['ID', 'STATE', 'SECRETS', 'SERVERS', 'ACCESS TOKENS', 'ACCOUNTS', 'TOKENS'],
    rows,
  );
  const former = keys.filter(({ id, in_ring: isThere }) => isThere && id !== active);
  const tokens = former.reduce((sum, key) => sum + key.tokens, 0);
  if (tokens > 0) {
    note(`${tokens} client tokens move to ${active} when they are next used; keep the former key`);
  }
}

async function makeKey({ data, json }: { data: string; json?: boolean }): Promise<void> {
  const { addKey } = await import('../../../local/secrets.ts');
  const { id, former } = await addKey(resolve(data));
  if (json) return writeJson({ active: id, former });
  note(
    `key ${id} is in the ring and active from the next start; ${former} stays to open what it sealed`,
  );
  note('restart the gateway, then run: portico keys rotate');
}
