/** Creates a principal, and opens its page for the next steps. */
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { createPrincipal } from '../../api/people.ts';
import { Heading } from '../../parts/heading.tsx';
import { useAct } from '../../parts/use-act.ts';
import type { ViewProps } from '../../view-props.ts';
import { PrincipalForm } from './principal-form.tsx';
import { NEW, toCreate } from './principal-values.ts';

export function AddPrincipal({ me }: ViewProps) {
  const cache = useQueryClient();
  const [, go] = useLocation();
  const [values, setValues] = useState(NEW);
  const { isBusy, thrown, run } = useAct();
  const add = async () => {
    const made = await createPrincipal(toCreate(values));
    cache.setQueryData(['principals', made.id], made);
    void cache.invalidateQueries({ queryKey: ['principals', 'list'] });
    go(`/people?principal=${encodeURIComponent(made.id)}`);
  };
  return (
    <>
      <Heading back={['/people', 'All principals']}>Add a principal</Heading>
      <p>A person or a program that calls. It gets in by a token, an invitation or a sign-in.</p>
      <PrincipalForm
        me={me}
        values={values}
        onValues={setValues}
        onSend={() => run(add)}
        isBusy={isBusy}
        thrown={thrown}
        verb="Add it"
        cancel="/people"
      />
    </>
  );
}
