/**
 * Access rules: what their bodies mean. The policy decides what rules mean for a caller. Here they are checked: well formed, about existing
 * servers and principals, and few enough to be evaluated at each request.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { matchesServer } from '../../shared/util/name-pattern.ts';
import type { AccessPorts } from '../../records/edit-with-revision.ts';
import { allOf, whereEqual } from '../../records/record-store.ts';
import { patched } from '../../records/record-schema.ts';
import { createEditedRecords, type EditedRecords } from '../../records/records.ts';
import { findNamed, withGone } from '../../servers/server-names.ts';
import { toSubject, toSubjectColumns } from '../policy/rule.ts';
import { checkNames } from './checked-names.ts';
import { ACCESS_RULES, listServerPatterns, MAX_RULES, whenServerIn } from './rule-list-store.ts';
import type { CreateRule, RuleQuery, StoredRule, UpdateRule } from './rule-schema.ts';

export type Rules = EditedRecords<StoredRule, CreateRule, RuleQuery, UpdateRule>;

export function createRules({ db, adminAudit, onAccessChanged }: AccessPorts): Rules {
  return createEditedRecords(
    { db, adminAudit },
    {
      table: ACCESS_RULES,
      noun: 'rule',
      missing: 'No such rule',
      onChanged: onAccessChanged,

      async make({ subject, ...given }: CreateRule, servers, stamp) {
        const server = await checkNames(db, { ...given, subject }, servers);
        return { ...given, ...stamp, ...toSubjectColumns(subject), server };
      },

      async edit(before, { subject, ...patch }: UpdateRule, servers) {
        const given = { server: before.server, ...patch };
        const server = await checkNames(
          db,
          { ...given, subject },
          withGone(servers, [before.server]),
        );
        const rule = { ...patched(before, given), server };
        return subject ? { ...rule, ...toSubjectColumns(subject) } : rule;
      },

      async whyNot(rule, servers) {
        const { server } = rule;
        await checkNames(db, { server, subject: toSubject(rule) }, withGone(servers, [server]));
        return new PorticoError('conflict', `There are ${MAX_RULES} rules already`);
      },

      /** A rule belongs to every server that its pattern matches. */
      async filter({ server: key, subject_kind, subject }: RuleQuery, servers) {
        const ofSubject = whereEqual({ subject_kind, subject });
        if (key === undefined) return ofSubject;
        const server = findNamed(key, servers);
        const all = server ? await listServerPatterns(db) : [];
        const patterns = all.filter(pattern => server && matchesServer(pattern, server));
        return allOf(ofSubject, whenServerIn(patterns));
      },

      toDetail: ({ effect, server, tool, read_only, ...columns }) => ({
        effect,
        subject: toSubject(columns),
        server,
        tool,
        read_only,
      }),
    },
  );
}
