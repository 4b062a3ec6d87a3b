/** The grants of people to programs: who, which program, scopes, expiry; and how to end them. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { endGrant, GRANTS, grantsQuery } from '../../api/oauth-clients.ts';
import type { Grant } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Told, useTelling } from '../../parts/told.tsx';

const COLUMNS = ['Who', 'Program', 'May', 'Since', 'Until', 'Used', { hidden: 'What can be done' }];

export function Grants() {
  const cache = useQueryClient();
  const list = useInfiniteQuery(grantsQuery());
  const [telling, tell] = useTelling();
  const ended = () => {
    tell('The grant is ended. The program has to ask again.');
    void cache.invalidateQueries({ queryKey: GRANTS });
  };
  return (
    <>
      <p>Programs that people signed in to, and what they allowed them.</p>
      <Told telling={telling} />
      <PagedList list={list} itemsOf={page => page.grants} none="Nobody has allowed a program yet.">
        {grants => (
          <Table label="Grants" columns={COLUMNS}>
            {grants.map(grant => (
              <GrantRow key={grant.id} grant={grant} onEnded={ended} />
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}

function GrantRow({ grant, onEnded }: { grant: Grant; onEnded: () => void }) {
  const { id, principal_name: who, name, scopes, created_at: since } = grant;
  return (
    <tr>
      <th scope="row">
        <Foreign text={who} max={100} />
      </th>
      <td>
        <Foreign text={name} max={200} />
      </td>
      <td>{scopes.join(', ')}</td>
      <td>
        <Time at={since} />
      </td>
      <td>
        <Time at={grant.expires_at} />
      </td>
      <td>{grant.last_used_at === null ? 'never' : <Time at={grant.last_used_at} />}</td>
      <td>
        <Confirm
          label="End"
          says={`Tokens of ${toShown(name, 100)} for ${toShown(who, 100)} are refused everywhere within a second. The program has to ask again.`}
          act={() => endGrant(id)}
          onDone={onEnded}
        />
      </td>
    </tr>
  );
}
