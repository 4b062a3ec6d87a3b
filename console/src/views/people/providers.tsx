/** Sign-in providers: the list, the form for a new one, or the page of one. */
import { useInfiniteQuery } from '@tanstack/preact-query';
import { Link, useLocation, useSearchParams } from 'wouter-preact';
import { providersQuery } from '../../api/sign-in-providers.ts';
import type { SignInProvider } from '../../generated/types.gen.ts';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, useTelling, type Telling } from '../../parts/told.tsx';
import { AddProvider } from './add-provider.tsx';
import { PROVIDERS, toProviderAddress } from './addresses.ts';
import { ProviderDetails } from './provider.tsx';
import { PeopleTabs } from './tabs.tsx';

export function Providers() {
  const [search] = useSearchParams();
  const [, go] = useLocation();
  const id = search.get('provider');
  const [telling, tell] = useTelling(id !== null || search.has('add'));
  const onDeleted = (name: string) => {
    tell(`${toShown(name, 100)} is deleted.`);
    go(PROVIDERS);
  };
  if (id !== null) return <ProviderDetails key={id} id={id} onDeleted={onDeleted} />;
  if (search.get('add') === 'provider') return <AddProvider />;
  return <List telling={telling} />;
}

function List({ telling }: { telling: Telling | undefined }) {
  const list = useInfiniteQuery(providersQuery());
  return (
    <>
      <h1>People</h1>
      <PeopleTabs />
      <Told telling={telling} />
      <p>People sign in with an account at one of these. Each is a button of the sign-in page.</p>
      <p class="actions">
        <Link class="button" href="/people?tab=providers&add=provider">
          Add a provider
        </Link>
      </p>
      <PagedList list={list} itemsOf={page => page.sign_in_providers} none="There is none yet.">
        {providers => <ProviderTable providers={providers} />}
      </PagedList>
    </>
  );
}

const ProviderTable = ({ providers }: { providers: readonly SignInProvider[] }) => (
  <Table label="Providers" columns={['Name', 'Issuer', 'Who signs in']}>
    {providers.map(({ id, name, issuer, creates_principals: takesAll }) => (
      <tr key={id}>
        <th scope="row">
          <Link href={toProviderAddress(id)}>
            <Foreign text={name} />
          </Link>
        </th>
        <td>
          <Foreign text={issuer} />
        </td>
        <td>{takesAll ? 'everybody who may sign in' : 'people who are linked'}</td>
      </tr>
    ))}
  </Table>
);
