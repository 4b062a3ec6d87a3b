/** Edits a principal. */
import type { Me } from '../../api/me.ts';
import { readPrincipal, updatePrincipal } from '../../api/people.ts';
import type { Principal } from '../../generated/types.gen.ts';
import { useEdit } from '../../parts/use-edit.tsx';
import { PrincipalForm } from './principal-form.tsx';
import { toUpdate, toValues } from './principal-values.ts';

interface EditProps {
  me: Me;
  principal: Principal;
  onDone: () => void;
}

export function EditPrincipal({ me, principal, onDone }: EditProps) {
  const { form } = useEdit({
    noun: 'principal',
    record: principal,
    toValues,
    read: () => readPrincipal(principal.id),
    save: (before, typed) =>
      updatePrincipal(before.id, toUpdate(toValues(before), typed), before.revision),
    shownAt: ['principals', principal.id],
    stale: [['principals'], ['tokens']],
    cancel: onDone,
    onSaved: onDone,
  });
  return <PrincipalForm {...form} me={me} takesFocus />;
}
