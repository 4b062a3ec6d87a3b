/** Edits a provider. */
import { readProvider, updateProvider } from '../../api/sign-in-providers.ts';
import type { SignInProvider } from '../../generated/types.gen.ts';
import { useEdit } from '../../parts/use-edit.tsx';
import { ProviderForm } from './provider-form.tsx';
import { toUpdate, toValues } from './provider-values.ts';

interface EditProps {
  provider: SignInProvider;
  onDone: () => void;
}

export function EditProvider({ provider, onDone }: EditProps) {
  const { form } = useEdit({
    noun: 'provider',
    record: provider,
    toValues,
    read: () => readProvider(provider.id),
    save: (before, typed) =>
      updateProvider(before.id, toUpdate(toValues(before), typed), before.revision),
    shownAt: ['sign-in-providers', 'one', provider.id],
    stale: [['sign-in-providers', 'list']],
    cancel: onDone,
    onSaved: onDone,
  });
  return <ProviderForm {...form} isKnown />;
}
