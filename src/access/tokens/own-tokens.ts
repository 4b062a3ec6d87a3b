/**
 * A person's own tokens, which need no administration: people list them, make some for their clients, and revoke them.
 *
 * Invariants: nobody makes, sees or revokes a token that may do more, in scopes, limits or lifetime, than the credential they use. A token
 * made this way ends with that credential, and makes none itself. Tokens of others do not exist for them.
 */
import type { AdminAudit } from '../../audit/admin-audit.ts';
import type { Condition } from '../../audit/audit-store.ts';
import { allOf, listRecords } from '../../records/record-store.ts';
import { requireRecord, type ReadRecords } from '../../records/records.ts';
import type { RecordScopes } from '../../records/record-schema.ts';
import { PorticoError, type FieldProblem } from '../../shared/errors/portico-error.ts';
import {
  hasLimits,
  hasScope,
  requireScope,
  type Actor,
  MEMBER_SCOPES,
  type StoredToken,
} from '../../shared/identity/principal.ts';
import type { NamedServer } from '../../shared/util/name-pattern.ts';
import type { Caller } from '../policy/caller.ts';
import { insertToken, type TokenValue } from '../policy/token-store.ts';
import { listToolsetNames } from '../toolsets/toolset-list-store.ts';
import { buildToken, NO_PRINCIPAL, toTokenDetail } from './build-token.ts';
import {
  findMaker,
  MAX_OWN_TOKENS,
  whenFewer,
  whenMaker,
  whereOwn,
  type Maker,
} from './maker-store.ts';
import { TOKENS } from './token-list-store.ts';
import type { CreateToken, Issued, ShownToken, TokenQuery } from './token-schema.ts';

/** Who may have tokens of their own: everybody who may do anything with tools. */
export const OWN_SCOPES: RecordScopes = { read: 'tools:read', write: 'tools:read' };

/** Filters of the list, and the tokens it is limited to. */
export type OwnQuery = TokenQuery & { within?: Condition };

interface OwnPorts {
  db: D1Database;
  adminAudit: AdminAudit;
  records: ReadRecords<ShownToken, OwnQuery>;
  issue(): Promise<{ value: string; stored: TokenValue }>;
}

interface OwnTokens extends ReadRecords<ShownToken, TokenQuery> {
  create(caller: Caller, input: CreateToken, servers: readonly NamedServer[]): Promise<Issued>;
}

const KIND = { table: TOKENS, missing: 'No such token' };

export function createOwnTokens({ db, adminAudit, records, issue }: OwnPorts): OwnTokens {
  async function requireMaker(caller: Actor): Promise<Maker> {
    const maker = await findMaker(db, caller, Date.now());
    if (maker) return maker;
    throw new PorticoError('forbidden', 'This needs a sign-in, or a token of your own');
  }

  /** The tokens that the caller may know of. */
  const within = (caller: Actor, maker: Maker): Condition =>
    whereOwn(caller, maker, maker.isMade || hasLimits(caller));

  async function find(caller: Actor, id: string): Promise<ShownToken | undefined> {
    const maker = await findMaker(db, caller, Date.now());
    if (!maker) return undefined;
    const filter = allOf({ sql: 'id = ?', params: [id] }, within(caller, maker));
    return (await listRecords(db, TOKENS, filter, 1)).items[0];
  }

  return {
    async list(caller, query, ...more) {
      requireScope(caller, OWN_SCOPES.read);
      const maker = await requireMaker(caller);
      return records.list(caller, { ...query, within: within(caller, maker) }, ...more);
    },

    async get(caller, id) {
      requireScope(caller, OWN_SCOPES.read);
      const token = await find(caller, id);
      if (!token) throw new PorticoError('not_found', KIND.missing);
      return token;
    },

    async delete(caller, id) {
      const isOwn = hasScope(caller, OWN_SCOPES.write) && (await find(caller, id)) !== undefined;
      // Let the deletion itself refuse it, as a token that does not exist.
      await records.delete(caller, isOwn ? id : '');
    },

    create(caller, input, servers) {
      const id = crypto.randomUUID();
      const act = { action: 'token.create', subject: id };
      return adminAudit.perform(caller, OWN_SCOPES.write, act, async commit => {
        const maker = await requireMaker(caller);
        refuseMaking(maker);
        const all = await listToolsetNames(db);
        const toolsets = all.filter(({ name }) => caller.policy.toolset(name));
        const scopes = input.scopes ?? MEMBER_SCOPES.filter(scope => hasScope(caller, scope));
        const requested = await buildToken(
          db,
          id,
          { ...input, scopes, principal: caller.principalId },
          { servers, toolsets },
          token => findExcess(caller, maker, input, token),
        );
        const token = withinMaker(requested, maker);
        const { value, stored } = await issue();
        const when = allOf(whenMaker(caller, Date.now()), whenFewer(maker));
        const own = { madeBy: maker.endsWith, requestedUntil: requested.expiresAt, when };
        const isDone = await commit({
          when,
          statements: [insertToken(db, token, stored, own)],
          detail: { ...toTokenDetail(token), made_by: maker.endsWith },
        });
        if (!isDone) {
          refuseMaking(await requireMaker(caller));
          const text = `You have made ${MAX_OWN_TOKENS} tokens with this credential, which is the most; revoke one`;
          throw new PorticoError('conflict', text);
        }
        return { token: await requireRecord(db, KIND, id), value };
      });
    },
  };
}

/** @throws PorticoError `forbidden` where this credential may not make tokens */
function refuseMaking({ isMade, isRotating }: Maker): void {
  if (isMade) {
    throw new PorticoError(
      'forbidden',
      'A token that was made for a client cannot make other tokens',
    );
  }
  if (!isRotating) return;
  const text =
    'A token whose previous value still works cannot make other tokens; wait until that value has ended';
  throw new PorticoError('forbidden', text);
}

const MORE = 'more than you may use yourself';

/** Returns a problem for each field that asks for more than the maker may do or knows. */
function findExcess(
  caller: Caller,
  maker: Maker,
  input: CreateToken,
  token: StoredToken,
): FieldProblem[] {
  const isElse = input.principal !== undefined && input.principal !== caller.principalId;
  const scopes = token.grantedScopes.filter(scope => !hasScope(caller, scope));
  const limits = (['servers', 'tools', 'toolsets'] as const).filter(field => {
    const [given, most] = [token[field], maker[field]];
    return given && most && !given.every(entry => most.includes(entry));
  });
  return [
    ...(isElse ? [NO_PRINCIPAL] : []),
    ...(scopes.length > 0 ? [{ field: 'scopes', message: `${MORE}: ${scopes.join(', ')}` }] : []),
    ...limits.map(field => ({ field, message: MORE })),
  ];
}

/** Returns the token, with the limits and the end of its maker where it has none of its own. */
function withinMaker(token: StoredToken, maker: Maker): StoredToken {
  const ends = [token.expiresAt, maker.endsAt].filter(at => at !== null);
  return {
    ...token,
    servers: token.servers ?? maker.servers,
    tools: token.tools ?? maker.tools,
    toolsets: token.toolsets ?? maker.toolsets,
    expiresAt: ends.length === 0 ? null : Math.min(...ends),
  };
}
