/** Grants for administrators: which programs people allowed. Deleting a grant ends its tokens at once. */
import type { AccessPorts } from '../../records/edit-with-revision.ts';
import { allOf, whereEqual, type ReadTable } from '../../records/record-store.ts';
import { createReadRecords, type ReadRecords } from '../../records/records.ts';
import { ShownGrantSchema, type GrantQuery, type ShownGrant } from './grant-schema.ts';
import { SHOWN_GRANTS, whenAlive } from './grant-store.ts';

const GRANTS: ReadTable<ShownGrant> = {
  name: 'oauth_grants',
  source: SHOWN_GRANTS,
  row: ShownGrantSchema,
};

export type Grants = ReadRecords<ShownGrant, GrantQuery>;

export function createGrants({ db, adminAudit, onAccessChanged }: AccessPorts): Grants {
  return createReadRecords(
    { db, adminAudit },
    {
      table: GRANTS,
      noun: 'grant',
      missing: 'No such grant',
      onChanged: onAccessChanged,
      filter: ({ principal, client }: GrantQuery) =>
        allOf(whenAlive(Date.now()), whereEqual({ principal_id: principal, client_id: client })),
      toDeletionDetail: ({ name, client_id: client }) => ({ name, client }),
    },
  );
}
