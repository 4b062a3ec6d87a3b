/** Passkeys, all of them for administrators and their own for other people: list, get and delete. They are added on a page. */
import type { ReadRecords, RecordPorts } from '../../records/records.ts';
import type { OfPrincipal } from '../invitation-schema.ts';
import { createOwnRecords } from '../own-records.ts';
import type { Passkey } from './passkey-schema.ts';
import { PASSKEYS } from './passkey-store.ts';

/** Deleting a passkey ends what came from it. */
export type PasskeyRecords = ReadRecords<Passkey, OfPrincipal>;

export interface PasskeyRecordPorts extends RecordPorts {
  onAccessChanged(): Promise<void>;
}

export function createPasskeyRecords({
  onAccessChanged,
  ...ports
}: PasskeyRecordPorts): PasskeyRecords {
  return createOwnRecords(ports, {
    table: PASSKEYS,
    noun: 'passkey',
    missing: 'No such passkey',
    toDeletionDetail: ({ name, principal_id: principal }) => ({ name, principal }),
    onChanged: () => onAccessChanged(),
  });
}
