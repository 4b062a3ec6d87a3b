/** OAuth clients: those that registered themselves, and those that an administrator added (`?add=program`). */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { CLIENTS, clientsQuery, deleteClient, GRANTS } from '../../api/oauth-clients.ts';
import type { IssuedOAuthClient, OAuthClient } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { ProgramForm } from './program-form.tsx';

const HERE = '/settings?section=programs';
const COLUMNS = [
  'Program',
  'How it came',
  'Sends people back to',
  'Used',
  { hidden: 'What can be done' },
];
const KINDS: Readonly<Record<OAuthClient['kind'], string>> = {
  document: 'by its document',
  registered: 'registered itself',
  manual: 'added here',
};

export function Programs() {
  const [search] = useAddress();
  const [, go] = useLocation();
  const cache = useQueryClient();
  const list = useInfiniteQuery(clientsQuery());
  const [issued, setIssued] = useState<IssuedOAuthClient>();
  const isAdding = search.get('add') === 'program';
  const [telling, tell] = useTelling(isAdding);
  const changed = (text?: string) => {
    tell(text);
    void cache.invalidateQueries({ queryKey: CLIENTS });
    void cache.invalidateQueries({ queryKey: GRANTS });
  };
  if (isAdding) {
    const made = (client: IssuedOAuthClient) => {
      setIssued(client.client_secret === null ? undefined : client);
      changed(client.client_secret === null ? `It is added, as ${client.id}.` : undefined);
      go(HERE);
    };
    return <ProgramForm back={HERE} onMade={made} />;
  }
  return (
    <>
      <p>Most register themselves. They choose their own names; nobody checked these.</p>
      <Told telling={telling} />
      {issued?.client_secret ? (
        <ShownOnce
          label={`Secret of ${toShown(issued.name, 100)}`}
          value={issued.client_secret}
          says={`Its client id is ${issued.id}. Give it both.`}
          onDone={() => {
            setIssued(undefined);
            changed('The program is below.');
          }}
        />
      ) : null}
      <p class="actions">
        <Link class="button" href={`${HERE}&add=program`}>
          Add a program
        </Link>
      </p>
      <PagedList list={list} itemsOf={page => page.clients} none="No program was allowed yet.">
        {clients => (
          <Table label="Programs" columns={COLUMNS}>
            {clients.map(client => (
              <ProgramRow
                key={client.id}
                client={client}
                onDeleted={() => changed('The program and its grants are deleted.')}
              />
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}

function ProgramRow({ client, onDeleted }: { client: OAuthClient; onDeleted: () => void }) {
  const { id, kind, name, redirect_uris: uris, last_used_at: usedAt } = client;
  return (
    <tr>
      <th scope="row">
        <Foreign text={name} max={200} />
        <div>
          <code class="hash">
            <Foreign text={id} max={300} />
          </code>
        </div>
      </th>
      <td>{KINDS[kind]}</td>
      <td class="sentence">
        {uris.map(uri => (
          <div key={uri}>
            <Foreign text={uri} max={300} />
          </div>
        ))}
      </td>
      <td>{usedAt === null ? 'never' : <Time at={usedAt} />}</td>
      <td>
        <Confirm
          label="Delete"
          says={`What people allowed ${toShown(name, 100)} ends everywhere within a second.${
            kind === 'manual' ? ' Its secret is gone.' : ' It can come back and ask again.'
          }`}
          act={() => deleteClient(id)}
          onDone={onDeleted}
        />
      </td>
    </tr>
  );
}
