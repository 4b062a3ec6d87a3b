/**
 * The allow-list of ask: what its bodies mean. Entries are not edited, so the audit shows exactly what was allowed. The list is read at
 * each request, so a change takes effect at once.
 */
import { toSubject, toSubjectColumns } from '../../access/policy/rule.ts';
import { checkNames } from '../../access/rules/checked-names.ts';
import { createRecords, type RecordPorts, type Records } from '../../records/records.ts';
import { ALWAYS } from '../../audit/admin-audit.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import type { CreateEntry, EntryQuery, StoredEntry } from './allowlist-schema.ts';
import { ASK_ALLOWLIST, MAX_ENTRIES } from './allowlist-store.ts';

export type Allowlist = Records<StoredEntry, CreateEntry, EntryQuery>;

export function createAllowlist({ db, adminAudit }: RecordPorts): Allowlist {
  return createRecords(
    { db, adminAudit },
    {
      table: ASK_ALLOWLIST,
      noun: 'ask_allowlist',
      missing: 'No such entry',

      async make({ subject, ...given }: CreateEntry, servers, stamp) {
        const server = await checkNames(db, { ...given, subject }, servers);
        return { ...given, ...stamp, ...toSubjectColumns(subject), server };
      },

      async whyNot(entry, servers) {
        await checkNames(db, { server: entry.server, subject: toSubject(entry) }, servers);
        return new PorticoError('conflict', `There are ${MAX_ENTRIES} entries already`);
      },

      filter: () => ALWAYS,

      toDetail: entry => ({
        subject: toSubject(entry),
        server: entry.server,
        tool: entry.tool,
        side_effects: entry.side_effects,
      }),
    },
  );
}
