/** Adds a server by its address, and opens its page, which shows the progress. */
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { createServer } from '../../api/servers.ts';
import { Heading } from '../../parts/heading.tsx';
import { useAct } from '../../parts/use-act.ts';
import { NEW, toCreate } from './form-values.ts';
import { ServerForm } from './form.tsx';

export function AddServer() {
  const cache = useQueryClient();
  const [, go] = useLocation();
  const [values, setValues] = useState(NEW);
  const { isBusy, thrown, run } = useAct();
  async function send(): Promise<void> {
    const server = await createServer(toCreate(values));
    cache.setQueryData(['servers', 'one', server.id], server);
    void cache.invalidateQueries({ queryKey: ['servers'] });
    go(`/servers?server=${encodeURIComponent(server.id)}`);
  }
  return (
    <>
      <Heading back={['/servers', 'All servers']}>Add a server</Heading>
      <ServerForm
        values={values}
        onValues={setValues}
        onSend={() => run(send)}
        isBusy={isBusy}
        thrown={thrown}
        verb="Add it"
        cancel="/servers"
      />
    </>
  );
}
