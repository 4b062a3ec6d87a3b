/** A provider is edited. */
import { useQueryClient } from '@tanstack/preact-query';
import { readProvider, updateProvider } from '../../api/sign-in-providers.ts';
import type { SignInProvider } from '../../generated/types.gen.ts';
import { Meanwhile, useEdit } from '../../parts/use-edit.tsx';
import { ProviderForm } from './provider-form.tsx';
import { toUpdate, toValues } from './provider-values.ts';

interface EditProps {
  provider: SignInProvider;
  onDone: () => void;
}

export function EditProvider({ provider, onDone }: EditProps) {
  const cache = useQueryClient();
  const show = (now: SignInProvider) =>
    cache.setQueryData(['sign-in-providers', 'one', provider.id], now);
  const { values, setValues, isBusy, thrown, theirs, send } = useEdit({
    record: provider,
    toValues,
    read: async () => {
      const now = await readProvider(provider.id);
      show(now);
      return now;
    },
    save: async (before, typed) => {
      const body = toUpdate(toValues(before), typed);
      show(await updateProvider(before.id, body, before.revision));
      void cache.invalidateQueries({ queryKey: ['sign-in-providers', 'list'] });
      onDone();
    },
  });
  return (
    <ProviderForm
      values={values}
      onValues={setValues}
      onSend={() => send()}
      isBusy={isBusy}
      thrown={thrown}
      verb={theirs ? 'Save over it' : 'Save'}
      isKnown
      cancel={onDone}
      beside={theirs ? <Meanwhile noun="provider" theirs={theirs} /> : null}
    />
  );
}
