/** The list of principals, filtered by name and group. */
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { groupsQuery, principalListQuery } from '../../api/people.ts';
import type { Principal } from '../../generated/types.gen.ts';
import { useDraft } from '../../parts/draft.ts';
import { NameFilters } from '../../parts/filters.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Suggest } from '../../parts/suggest.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, type Telling } from '../../parts/told.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { GroupBadges } from './group-badges.tsx';
import { toAddress } from './addresses.ts';
import { PeopleTabs } from './tabs.tsx';

export function PrincipalList({ telling }: { telling: Telling | undefined }) {
  const [search, set] = useAddress();
  const name = search.get('name') ?? '';
  const group = search.get('group') ?? '';
  const list = useInfiniteQuery({
    ...principalListQuery({ name, group }),
    placeholderData: before => before,
  });
  return (
    <>
      <h1>People</h1>
      <PeopleTabs />
      <Told telling={telling} />
      <p class="actions">
        <Link class="button" href="/people?add=principal">
          Add a principal
        </Link>
      </p>
      <NameFilters name={name} onName={value => set('name', value)} maxLength={100}>
        <GroupFilter value={group} onValue={value => set('group', value)} />
      </NameFilters>
      <PagedList list={list} itemsOf={page => page.principals} none="Nobody matches.">
        {principals => <PrincipalTable principals={principals} />}
      </PagedList>
    </>
  );
}

/** Filters once the typed group name is complete. */
function GroupFilter({ value, onValue }: { value: string; onValue: (group: string) => void }) {
  const [typed, setTyped] = useDraft(value);
  const groups = useQuery(groupsQuery()).data?.groups.map(({ name }) => name) ?? [];
  return (
    <Suggest
      label="Group"
      value={typed}
      offered={groups}
      onValue={text => {
        setTyped(text);
        if (text === '' || groups.includes(text)) onValue(text);
      }}
      onDone={onValue}
    />
  );
}

const PrincipalTable = ({ principals }: { principals: readonly Principal[] }) => (
  <Table label="Principals" columns={['Name', 'Groups', 'Tokens', 'May at most']}>
    {principals.map(({ id, name, groups, claimed_groups: claimed, tokens, scopes }) => (
      <tr key={id}>
        <th scope="row">
          <Link href={toAddress(id)}>
            <Foreign text={name} />
          </Link>
        </th>
        <td>
          <GroupBadges groups={[...new Set([...groups, ...claimed])]} />
        </td>
        <td>{tokens}</td>
        <td>{scopes === null ? 'no limit' : scopes.join(' ') || 'nothing'}</td>
      </tr>
    ))}
  </Table>
);
