/**
 * Access rules: what their bodies mean. What rules mean for a caller is decided elsewhere; here they are well formed, of servers and
 * principals that exist, and few enough to be judged at each request.
 */
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { matchesServer } from '../../shared/util/name-pattern.ts';
import type { AccessPorts } from '../../records/edit-with-revision.ts';
import { allOf, whereEqual } from '../../records/record-store.ts';
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

      async edit(before, patch: UpdateRule, servers) {
        const server = await checkNames(db, patch, withGone(servers, [before.server]));
        return {
          ...before,
          ...(patch.subject ? toSubjectColumns(patch.subject) : {}),
          effect: patch.effect ?? before.effect,
          server: patch.server === undefined ? before.server : server,
          tool: patch.tool ?? before.tool,
          read_only: patch.read_only ?? before.read_only,
          description: patch.description ?? before.description,
        };
      },

      async whyNot(_rule, body, servers) {
        await checkNames(db, body, servers);
        return new PorticoError('conflict', `There are ${MAX_RULES} rules already`);
      },

      /** A rule is of a server that its pattern stands for. */
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
