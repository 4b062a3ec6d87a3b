/** Adds a provider, and opens its page for the next steps. */
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { createProvider } from '../../api/sign-in-providers.ts';
import { Heading } from '../../parts/heading.tsx';
import { useAct } from '../../parts/use-act.ts';
import { PROVIDERS, toProviderAddress } from './addresses.ts';
import { ProviderForm } from './provider-form.tsx';
import { NEW, toCreate } from './provider-values.ts';

export function AddProvider() {
  const cache = useQueryClient();
  const [, go] = useLocation();
  const [values, setValues] = useState(NEW);
  const { isBusy, thrown, run } = useAct();
  const add = async () => {
    const made = await createProvider(toCreate(values));
    cache.setQueryData(['sign-in-providers', 'one', made.id], made);
    void cache.invalidateQueries({ queryKey: ['sign-in-providers', 'list'] });
    go(toProviderAddress(made.id));
  };
  return (
    <>
      <Heading back={[PROVIDERS, 'All providers']}>Add a provider</Heading>
      <ProviderForm
        values={values}
        onValues={setValues}
        onSend={() => run(add)}
        isBusy={isBusy}
        thrown={thrown}
        verb="Add it"
        cancel={PROVIDERS}
      />
    </>
  );
}
