/** Access rules: what they allow or deny, and to whom. */
import { z } from 'zod';

/** Names of groups. */
export const GroupSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'use 1 to 63 of a-z, 0-9, "-" or "_"');

/** Whom a rule is for. */
export const SubjectSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('everyone') }),
  z.strictObject({ kind: z.literal('group'), name: GroupSchema }),
  z.strictObject({ kind: z.literal('principal'), id: z.string().min(1).max(100) }),
]);
export type Subject = z.infer<typeof SubjectSchema>;

/** A subject as columns of tables. */
export const SubjectColumnsSchema = z.object({
  subject_kind: z.enum(['everyone', 'group', 'principal']),
  /** Name of the group or id of the principal; empty for everyone. */
  subject: z.string(),
});
export type SubjectColumns = z.infer<typeof SubjectColumnsSchema>;

export const toSubject = ({ subject_kind: kind, subject }: SubjectColumns): Subject =>
  SubjectSchema.parse(
    kind === 'group'
      ? { kind, name: subject }
      : kind === 'principal'
        ? { kind, id: subject }
        : { kind },
  );

export function toSubjectColumns(subject: Subject): SubjectColumns {
  if (subject.kind === 'group') return { subject_kind: 'group', subject: subject.name };
  return { subject_kind: subject.kind, subject: subject.kind === 'principal' ? subject.id : '' };
}

export const EffectSchema = z.enum(['allow', 'deny']);
export type Effect = z.infer<typeof EffectSchema>;

/** A rule as decisions use it. */
export interface AccessRule {
  id: string;
  effect: Effect;
  subject: Subject;
  /** Pattern over servers. A single server that was named exactly is stored by its id, so that a rename changes nothing. */
  server: string;
  /** Pattern over the tools' own names. Only `*` also covers what a server offers beside tools. */
  tool: string;
  /** Whether it covers only tools that are annotated read-only. */
  readOnly: boolean;
}

/** What a caller may do where no rule matches. */
export type DefaultAccess = 'open' | 'closed';
