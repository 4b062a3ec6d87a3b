/** A principal is edited. */
import { useQueryClient } from '@tanstack/preact-query';
import type { Me } from '../../api/me.ts';
import { readPrincipal, updatePrincipal } from '../../api/people.ts';
import type { Principal } from '../../generated/types.gen.ts';
import { Meanwhile, useEdit } from '../../parts/use-edit.tsx';
import { PrincipalForm } from './principal-form.tsx';
import { toUpdate, toValues } from './principal-values.ts';

interface EditProps {
  me: Me;
  principal: Principal;
  onDone: () => void;
}

export function EditPrincipal({ me, principal, onDone }: EditProps) {
  const cache = useQueryClient();
  const show = (now: Principal) => cache.setQueryData(['principals', principal.id], now);
  const { values, setValues, isBusy, thrown, theirs, send } = useEdit({
    record: principal,
    toValues,
    read: async () => {
      const now = await readPrincipal(principal.id);
      show(now);
      return now;
    },
    save: async (before, typed) => {
      const body = toUpdate(toValues(before), typed);
      show(await updatePrincipal(before.id, body, before.revision));
      void cache.invalidateQueries({ queryKey: ['principals'] });
      void cache.invalidateQueries({ queryKey: ['tokens'] });
      onDone();
    },
  });
  return (
    <PrincipalForm
      me={me}
      values={values}
      onValues={setValues}
      onSend={() => send()}
      isBusy={isBusy}
      thrown={thrown}
      verb={theirs ? 'Save over it' : 'Save'}
      takesFocus
      cancel={onDone}
      beside={theirs ? <Meanwhile noun="principal" theirs={theirs} /> : null}
    />
  );
}
