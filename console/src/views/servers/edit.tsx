/** Edits a server. */
import { readServer, updateServer } from '../../api/servers.ts';
import type { Server } from '../../generated/types.gen.ts';
import { useEdit } from '../../parts/use-edit.tsx';
import { toUpdate, valuesOf } from './form-values.ts';
import { ServerForm } from './form.tsx';

interface EditProps {
  server: Server;
  onDone: () => void;
}

export function EditServer({ server, onDone }: EditProps) {
  const { base, form } = useEdit({
    noun: 'server',
    record: server,
    toValues: valuesOf,
    read: () => readServer(server.id),
    save: (before, typed) =>
      updateServer(before.id, toUpdate(valuesOf(before), typed), before.revision),
    shownAt: ['servers', 'one', server.id],
    stale: [['servers']],
    cancel: onDone,
    onSaved: onDone,
  });
  return <ServerForm {...form} of={base.transport_type === 'STDIO' ? 'program' : 'server'} />;
}
