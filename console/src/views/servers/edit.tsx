/** A server is edited. */
import { useQueryClient } from '@tanstack/preact-query';
import { readServer, updateServer } from '../../api/servers.ts';
import type { Server } from '../../generated/types.gen.ts';
import { Meanwhile, useEdit } from '../../parts/use-edit.tsx';
import { toUpdate, valuesOf } from './form-values.ts';
import { ServerForm } from './form.tsx';

interface EditProps {
  server: Server;
  onDone: () => void;
}

export function EditServer({ server, onDone }: EditProps) {
  const cache = useQueryClient();
  const show = (now: Server) => cache.setQueryData(['servers', 'one', server.id], now);
  const { base, values, setValues, isBusy, thrown, theirs, send } = useEdit({
    record: server,
    toValues: valuesOf,
    read: async () => {
      const now = await readServer(server.id);
      show(now);
      return now;
    },
    save: async (before, typed) => {
      const body = toUpdate(valuesOf(before), typed);
      show(await updateServer(before.id, body, before.revision));
      void cache.invalidateQueries({ queryKey: ['servers'] });
      onDone();
    },
  });
  return (
    <ServerForm
      values={values}
      onValues={setValues}
      onSend={() => send()}
      isBusy={isBusy}
      thrown={thrown}
      verb={theirs ? 'Save over it' : 'Save'}
      of={base.transport_type === 'STDIO' ? 'program' : 'server'}
      cancel={onDone}
      beside={theirs ? <Meanwhile noun="server" theirs={theirs} /> : null}
    />
  );
}
