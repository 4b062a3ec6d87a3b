/** Passkeys as administrators have them: listed, found and deleted. People add their own. */
import { whereEqual } from '../../records/record-store.ts';
import { createReadRecords, type ReadRecords, type RecordPorts } from '../../records/records.ts';
import type { OfPrincipal } from '../invitation-schema.ts';
import type { Passkey } from './passkey-schema.ts';
import { PASSKEYS } from './passkey-store.ts';

/** With one that is deleted ends what came of it. */
export type PasskeyRecords = ReadRecords<Passkey, OfPrincipal>;

export interface PasskeyRecordPorts extends RecordPorts {
  /** Who may use what was changed. */
  onAccessChanged(): Promise<void>;
}

export function createPasskeyRecords({
  onAccessChanged,
  ...ports
}: PasskeyRecordPorts): PasskeyRecords {
  return createReadRecords(ports, {
    table: PASSKEYS,
    noun: 'passkey',
    missing: 'No such passkey',
    filter: ({ principal }: OfPrincipal) => whereEqual({ principal_id: principal }),
    toDeletionDetail: ({ name, principal_id: principal }) => ({ name, principal }),
    onChanged: () => onAccessChanged(),
  });
}
