/** `portico token`: creates, lists, rotates and revokes tokens. A new value is printed only once. */
import type { Command } from 'commander';
import { EXIT, Failure } from '../failure.ts';
import { again } from '../again.ts';
import { apiOf, shown, type ApiOptions as Options } from '../gateway/api-command.ts';
import { findToken, TOKENS, type TokenRecord } from '../gateway/api.ts';
import { findPrincipalId } from '../resources/act.ts';
import { note, writeJson, writeOut, writeTable } from '../terminal.ts';

interface CreateOptions extends Options {
  server?: string[];
  tool?: string[];
  toolset?: string[];
  scope?: string[];
  principal?: string;
  expires?: string;
}

type Issued = TokenRecord & { token: string };

const HELP = `
Examples:
  portico token list
  TOKEN=$(portico token create ada --server github --expires 90d)
  portico token create ci --tool 'github.get_*' --scope tools:call
  portico token rotate ci --grace 1h > ci.token
  portico token revoke ada`;

const ROTATE_HELP = `
The new value is printed, and works at once. Without --grace the old value stops
working within a second.

Examples:
  TOKEN=$(portico token rotate ci)
  portico token rotate ci --grace 30m > ci.token`;

const UNITS = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const GRACE_UNITS = { s: 1, m: 60, h: 3_600 } as const;

/** Adds `token`. */
export function addToken(program: Command): void {
  const token = program
    .command('token')
    .summary('create, list, rotate and revoke tokens')
    .description('Create, list, rotate and revoke tokens.')
    .addHelpText('after', HELP);
  const all = token.command('list', { isDefault: true });
  shown(all.description('List the tokens, without their values.')).action(list);
  const create = token
    .command('create <name>')
    .description('Create a token and print its value; it is shown only once.')
    .option('--server <name>', 'a server that it may use (default: all); may be repeated', again)
    .option('--tool <pattern>', 'tools that it may use, like github.get_*; may be repeated', again)
    .option('--toolset <name>', 'a toolset that it may use; may be repeated', again)
    .option('--scope <scope>', 'what it may do, like tools:read; may be repeated', again)
    .option('--principal <name>', 'its principal, by name or id (default: a new one of its name)')
    .option(
      '--expires <when>',
      'when it expires: like 2027-01-31T00:00Z, or from now like 12h, 90d, 4w',
    )
    .addHelpText('after', HELP);
  shown(create).action(createToken);
  const rotate = token
    .command('rotate <token>')
    .description('Give a token a new value, by name or id; everything else stays.')
    .option('--grace <time>', 'how long the old value still works: like 60s, 30m, 24h')
    .addHelpText('after', ROTATE_HELP);
  shown(rotate).action(rotateToken);
  const revoke = token.command('revoke <token>').description('Revoke a token, by name or id.');
  shown(revoke.addHelpText('after', '\nExample:\n  portico token revoke ada')).action(revokeToken);
}

async function list(options: Options): Promise<void> {
  const tokens = await apiOf(options).list<TokenRecord>(TOKENS, 'tokens');
  if (options.json) return writeJson(tokens);
  if (tokens.length === 0) return note('no tokens yet; portico token create NAME');
  const rows = tokens.map(token => [
    token.name,
    token.id,
    token.is_expired ? 'expired' : (token.expires_at?.slice(0, 10) ?? 'never'),
    token.last_used_at?.slice(0, 10) ?? 'never',
    token.effective_scopes.join(' '),
  ]);
  const heading = ['NAME', 'ID', 'EXPIRES', 'USED', 'SCOPES'];
  await writeTable(heading, rows);
}

async function createToken(name: string, options: CreateOptions): Promise<void> {
  const { server, tool, toolset, scope, principal, expires } = options;
  const api = apiOf(options);
  const owner = principal === undefined ? undefined : await findPrincipalId(api, principal);
  const wanted = {
    servers: server,
    tools: tool,
    toolsets: toolset,
    scopes: scope,
    principal: owner,
  };
  const made = await api.post<Issued>(TOKENS, {
    name,
    ...Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)),
    ...(expires === undefined ? {} : { expires_at: readExpiry(expires, Date.now()) }),
  });
  if (options.json) return writeJson(made);
  await writeOut(`${made.token}\n`);
  note(`token '${made.name}' is created; its value is not shown again`);
}

async function rotateToken(
  wanted: string,
  { grace, ...options }: Options & { grace?: string },
): Promise<void> {
  const seconds = grace === undefined ? 0 : readGrace(grace);
  const api = apiOf(options);
  const { id, name } = await findToken(api, wanted);
  const made = await api.post<Issued>(`${TOKENS}/${id}/rotate`, { grace_seconds: seconds });
  if (options.json) return writeJson(made);
  await writeOut(`${made.token}\n`);
  const { former_expires_at: until } = made;
  const former = until === null ? 'no longer works' : `works until ${until.slice(0, 19)}`;
  note(`token '${name}' has a new value, not shown again; the old one ${former}`);
}

/** @throws Failure where it is not a span */
function readGrace(text: string): number {
  const [, count, unit] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * GRACE_UNITS[unit as keyof typeof GRACE_UNITS];
  throw new Failure(`'${text}' is not a valid time; write 60s, 30m or 24h`, EXIT.usage);
}

async function revokeToken(name: string, options: Options): Promise<void> {
  const api = apiOf(options);
  const token = await findToken(api, name);
  await api.json('DELETE', `${TOKENS}/${token.id}`);
  if (options.json) return writeJson({ revoked: token.id });
  note(`token '${token.name}' is revoked`);
}

/**
 * Converts a time, or a span from `now`, to the API's format.
 * @throws Failure where it is neither
 */
export function readExpiry(text: string, now: number): string {
  const [, count, unit] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const span = count === undefined ? NaN : Number(count) * UNITS[unit as keyof typeof UNITS];
  const isDate = /^\d{4}-\d\d-\d\d/.test(text);
  const at = isDate ? Date.parse(text) : now + span;
  if (!Number.isNaN(at)) return new Date(at).toISOString();
  throw new Failure(`'${text}' is not a valid time; write 90d, or 2027-01-31T00:00Z`, EXIT.usage);
}
