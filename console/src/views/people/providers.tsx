/** Sign-in providers: the list, the form for a new one, or the page of one. */
import { useInfiniteQuery } from '@tanstack/preact-query';
import { Link, useSearchParams } from 'wouter-preact';
import { providersQuery } from '../../api/sign-in-providers.ts';
import type { SignInProvider } from '../../generated/types.gen.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { AddProvider } from './add-provider.tsx';
import { toProviderAddress } from './addresses.ts';
import { ProviderDetails } from './provider.tsx';
import { PeopleTabs } from './tabs.tsx';

export function Providers() {
  const [search] = useSearchParams();
  const id = search.get('provider');
  if (id !== null) return <ProviderDetails key={id} id={id} />;
  if (search.get('add') === 'provider') return <AddProvider />;
  return <List />;
}

function List() {
  const list = useInfiniteQuery(providersQuery());
  return (
    <>
      <h1>People</h1>
      <PeopleTabs />
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
