/**
 * Which sealed values are under which key of the ring: counts, the next records to rotate, and the writes that rotate them. Covers every
 * column that holds an envelope, and counts tokens, refresh tokens and secrets of clients by the key of their HMAC. A write names the text
 * it replaces, so a concurrent edit is never overwritten.
 */
import { z } from 'zod';
import { onEitherSchema, type SchemaAge } from '../shared/util/either-schema.ts';
import type { Place } from '../shared/crypto/envelope.ts';

/** Kinds of sealed records, in the order of rotation. */
export const SEALED_KINDS = [
  'secret',
  'headers',
  'auth',
  'access_token',
  'account',
  'refresh_token',
  'upstream_client',
  'webhook',
] as const;
export type SealedKind = (typeof SEALED_KINDS)[number];

/** A sealed text and its location. */
export interface SealedRecord {
  kind: SealedKind;
  /** Primary key of the row. */
  id: string;
  sealed: string;
  place: Place;
  /** The server's address, for the fields of a server. */
  url: string;
}

interface Column {
  table: string;
  key: string;
  column: string;
  /** Columns with the context that the envelope is bound to. */
  bound: string;
}

/** Kinds that the previous release's schema does not have. */
const NEW_KINDS: ReadonlySet<SealedKind> = new Set([
  'account',
  'refresh_token',
  'upstream_client',
  'webhook',
]);
const kindsOf = (age: SchemaAge) =>
  SEALED_KINDS.filter(kind => age === 'this' || !NEW_KINDS.has(kind));
/** Maximum number of terms that D1 accepts in a compound statement. */
const MAX_TERMS = 5;

const COLUMNS: Readonly<Record<SealedKind, Column>> = {
  secret: { table: 'secrets', key: 'name', column: 'sealed', bound: "'' AS url, origins" },
  headers: { table: 'servers', key: 'id', column: 'headers_sealed', bound: "url, '[]' AS origins" },
  auth: { table: 'servers', key: 'id', column: 'auth_sealed', bound: "url, '[]' AS origins" },
  access_token: {
    table: 'access_tokens',
    key: 'server_id',
    column: 'sealed',
    bound: `coalesce((SELECT url FROM servers WHERE id = access_tokens.server_id), '') AS url,
      '[]' AS origins`,
  },
  account: {
    table: 'accounts',
    key: 'id',
    column: 'auth_sealed',
    bound: `coalesce((SELECT url FROM servers WHERE id = accounts.server_id), '') AS url, '[]' AS origins,
      principal_id || ' ' || server_id AS of`,
  },
  refresh_token: {
    table: 'account_grants',
    key: 'account_id',
    column: 'refresh_sealed',
    bound: `'' AS url, json_array(issuer, resource) AS origins,
      (SELECT principal_id || ' ' || server_id FROM accounts WHERE id = account_id) AS of`,
  },
  upstream_client: {
    table: 'upstream_clients',
    key: 'id',
    column: 'secret_sealed',
    bound: `'' AS url, json_array(issuer) AS origins`,
  },
  webhook: {
    table: 'webhooks',
    key: 'id',
    column: 'sealed',
    bound: `'' AS url, json_array(origin) AS origins`,
  },
};

const RowSchema = z.object({
  id: z.string(),
  sealed: z.string(),
  url: z.string(),
  origins: z.string(),
  /** Id that the envelope is bound to, if it is not the row's key. */
  of: z.string().nullish(),
});

/** Finds records of a kind after a row's key that are not envelopes under the active key, ordered by row. */
export async function findStale(
  db: D1Database,
  kind: SealedKind,
  activePrefix: string,
  after: string,
  limit: number,
): Promise<SealedRecord[]> {
  const { table, key, column, bound } = COLUMNS[kind];
  const found = db
    .prepare(
      `SELECT ${key} AS id, ${column} AS sealed, ${bound} FROM ${table}
       WHERE ${key} > ? AND ${column} <> '' AND substr(${column}, 1, ?) <> ? ORDER BY ${key} LIMIT ?`,
    )
    .bind(after, activePrefix.length, activePrefix, limit);
  const rows = await onEitherSchema(async age =>
    kindsOf(age).includes(kind) ? (await found.all()).results : [],
  );
  return rows.map(row => toRecord(kind, row));
}

/** Finds one envelope of each kind that has any; one read. */
export async function findSealed(db: D1Database): Promise<SealedRecord[]> {
  const one = (kind: SealedKind) => {
    const { table, key, column, bound } = COLUMNS[kind];
    return db.prepare(
      `SELECT ${key} AS id, ${column} AS sealed, ${bound} FROM ${table}
       WHERE substr(${column}, 1, 2) = '1:' LIMIT 1`,
    );
  };
  const found = await onEitherSchema(age => db.batch(kindsOf(age).map(one)));
  return SEALED_KINDS.flatMap((kind, i) =>
    (found[i]?.results ?? []).map(row => toRecord(kind, row)),
  );
}

function toRecord(kind: SealedKind, row: unknown): SealedRecord {
  const { origins, of, ...record } = RowSchema.parse(row);
  const origin = record.url === '' ? originsOf(origins) : new URL(record.url).origin;
  return { ...record, kind, place: placeOf(kind, of ?? record.id, origin) };
}

const originsOf = (text: string) => z.array(z.string()).parse(JSON.parse(text)).join(' ');

function placeOf(kind: SealedKind, id: string, origin: string): Place {
  if (kind === 'secret') return { kind, id, field: 'value', origin };
  if (kind === 'access_token') return { kind, id, field: 'token', origin };
  if (kind === 'account') return { kind, id, field: 'auth', origin };
  if (kind === 'refresh_token') return { kind: 'account', id, field: 'refresh', origin };
  if (kind === 'upstream_client') return { kind, id, field: 'secret', origin };
  if (kind === 'webhook') return { kind, id, field: 'target', origin };
  return { kind: 'server', id, field: kind, origin };
}

/** Replaces a sealed text, unless it has changed since it was read. */
export function replaceSealed(
  db: D1Database,
  { kind, id, sealed }: SealedRecord,
  next: string,
): D1PreparedStatement {
  const { table, key, column } = COLUMNS[kind];
  return db
    .prepare(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ? AND ${column} = ?`)
    .bind(next, id, sealed);
}

const CountSchema = z.object({ kind: z.string(), key_id: z.string(), n: z.number() });

/** Number of records under a key. */
export interface KeyCount {
  kind: SealedKind | 'token';
  /** Empty if the key is not known yet. */
  keyId: string;
  count: number;
}

/** SQL for the id of the key of a sealed text: the part before the dot, after the version of an envelope. */
const keyIdOf = (column: string) => {
  const bare = `CASE WHEN substr(${column}, 1, 2) = '1:' THEN substr(${column}, 3) ELSE ${column} END`;
  return `substr(${bare}, 1, instr(${bare}, '.') - 1)`;
};

/** Splits terms into groups that fit one compound statement each. */
const inTerms = (terms: readonly string[]): string[][] =>
  terms.length === 0 ? [] : [terms.slice(0, MAX_TERMS), ...inTerms(terms.slice(MAX_TERMS))];

/**
 * Counts records by kind and key; the form that preceded envelopes counts as a separate key, since it has to be rotated too.
 * @param now tokens that have expired by then are not counted, since nothing depends on their key
 */
export async function countByKey(db: D1Database, now: number): Promise<KeyCount[]> {
  const sealedOf = (kind: SealedKind) => {
    const { table, column } = COLUMNS[kind];
    const id = `${keyIdOf(column)} || CASE WHEN substr(${column}, 1, 2) = '1:' THEN '' ELSE '*' END`;
    return `SELECT '${kind}' AS kind, ${id} AS key_id, count(*) AS n FROM ${table}
      WHERE ${column} <> '' GROUP BY 2`;
  };
  const ofPrograms = `UNION ALL SELECT key_id FROM oauth_clients WHERE secret_hmac IS NOT NULL
      UNION ALL SELECT key_id FROM oauth_refresh_tokens WHERE used_at IS NULL
        AND grant_id IN (SELECT id FROM oauth_grants WHERE expires_at > ?1)`;
  const tokens = (
    age: SchemaAge,
  ) => `SELECT 'token' AS kind, coalesce(key_id, '') AS key_id, count(*) AS n
    FROM (SELECT key_id FROM tokens WHERE expires_at IS NULL OR expires_at > ?1
      UNION ALL SELECT key_id FROM connectors ${age === 'this' ? ofPrograms : ''}) GROUP BY 2`;
  const found = await onEitherSchema(age =>
    db.batch([
      ...inTerms(kindsOf(age).map(sealedOf)).map(terms => db.prepare(terms.join(' UNION ALL '))),
      db.prepare(tokens(age)).bind(now),
    ]),
  );
  return found
    .flatMap(({ results }) => results)
    .map(row => {
      const { kind, key_id: keyId, n: count } = CountSchema.parse(row);
      return { kind: z.enum([...SEALED_KINDS, 'token']).parse(kind), keyId, count };
    });
}
