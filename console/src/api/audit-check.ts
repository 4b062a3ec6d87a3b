/** The chains of the audit, and the check whether each is as it was written. */
import type { AuditVerification } from '../generated/types.gen.ts';
import { request } from './request.ts';

interface ShardPage {
  shards: { shard: string }[];
  next_cursor?: string;
}

/** Result of the check of one chain. */
export interface Checked {
  shard: string;
  /** Checked rows, or checked numbers of the chain of calls. */
  rows: number;
  /** The first row that is missing or changed; undefined: the chain is intact. */
  brokenAt: number | undefined;
  /** Its last row, which an administrator can note elsewhere. */
  head: AuditVerification['head'];
}

/** Lists the names of all chains. */
async function listShards(signal: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page: ShardPage = await request('audit/shards', {
      query: { limit: 500, cursor },
      signal,
    });
    names.push(...page.shards.map(({ shard }) => shard));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return names;
}

/** Checks one chain, part by part. @param onRows called with the rows checked so far */
async function checkShard(
  shard: string,
  onRows: (rows: number) => void,
  signal: AbortSignal,
): Promise<Checked> {
  let rows = 0;
  let from: number | undefined = 1;
  for (;;) {
    const part: AuditVerification = await request('audit/verify', {
      query: { shard, from },
      signal,
    });
    rows += part.rows;
    onRows(rows);
    from = part.is_intact ? part.next_from : undefined;
    if (from === undefined)
      return { shard, rows, brokenAt: part.first_broken_seq, head: part.head };
  }
}

/**
 * Checks every chain, one after the other.
 * @param onProgress called with the finished chains, the number of chains, and the checked rows of the current one
 * @throws ApiProblem, Unreachable
 */
export async function checkAll(
  onProgress: (done: readonly Checked[], total: number, rows: number) => void,
  signal: AbortSignal,
): Promise<Checked[]> {
  const shards = await listShards(signal);
  const done: Checked[] = [];
  for (const shard of shards) {
    const found = await checkShard(shard, rows => onProgress(done, shards.length, rows), signal);
    done.push(found);
    onProgress([...done], shards.length, 0);
  }
  return done;
}
