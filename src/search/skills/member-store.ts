/**
 * The table `skill_members`: what each server's tools contribute to the vectors of skills. Only a server's monitor writes its rows. Vectors
 * are 32-bit floats, little-endian like every machine this runs on.
 */
import { z } from 'zod';
import type { MemberTotal } from './skill-vectors.ts';

/** What one server contributes to one skill. */
export interface Contribution {
  skillId: string;
  /** All of its tools that have the skill. */
  all: MemberTotal;
  /** Those that an administrator assigned. */
  byHand: MemberTotal;
}

const BytesSchema = z.union([
  z.instanceof(ArrayBuffer).transform(bytes => new Uint8Array(bytes)),
  z.array(z.number()).transform(bytes => Uint8Array.from(bytes)),
]);
const toVector = (bytes: Uint8Array): Float32Array =>
  new Float32Array(Uint8Array.from(bytes).buffer);
const toBytes = (vector: Float32Array): ArrayBuffer =>
  Uint8Array.from(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)).buffer;

/** Replaces all contributions of a server. */
export function replaceContributions(
  db: D1Database,
  serverId: string,
  contributions: readonly Contribution[],
  now: number,
): D1PreparedStatement[] {
  const insert = db.prepare(
    `INSERT INTO skill_members (skill_id, server_id, members, total, hand_members, hand_total, changed_at)
     SELECT ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM servers WHERE id = ?)`,
  );
  return [
    db.prepare('DELETE FROM skill_members WHERE server_id = ?').bind(serverId),
    ...contributions.map(({ skillId, all, byHand }) =>
      insert.bind(
        skillId,
        serverId,
        all.members,
        toBytes(all.total),
        byHand.members,
        toBytes(byHand.total),
        now,
        serverId,
      ),
    ),
  ];
}

const HandSchema = z
  .object({ skill_id: z.string(), hand_members: z.number(), hand_total: BytesSchema })
  .transform(row => ({
    skillId: row.skill_id,
    members: row.hand_members,
    total: toVector(row.hand_total),
  }));

/** Loads the totals of tools that administrators put into skills: by skill, one for each server. */
export async function loadHandMembers(db: D1Database): Promise<Map<string, MemberTotal[]>> {
  const { results } = await db
    .prepare(
      'SELECT skill_id, hand_members, hand_total FROM skill_members WHERE hand_members > 0 ORDER BY skill_id, server_id',
    )
    .all();
  return Map.groupBy(
    results.map(row => HandSchema.parse(row)),
    ({ skillId }) => skillId,
  );
}

const AllSchema = z
  .object({ skill_id: z.string(), members: z.number(), total: BytesSchema })
  .transform(row => ({ skillId: row.skill_id, members: row.members, total: toVector(row.total) }));

/** Loads the totals of all tools in skills, by skill, one for each server: for administrators. */
export async function loadMembers(db: D1Database): Promise<Map<string, MemberTotal[]>> {
  const { results } = await db
    .prepare('SELECT skill_id, members, total FROM skill_members ORDER BY skill_id, server_id')
    .all();
  return Map.groupBy(
    results.map(row => AllSchema.parse(row)),
    ({ skillId }) => skillId,
  );
}
