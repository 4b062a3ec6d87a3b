/** Accounts at servers: the user's own, to connect and end, and for administrators those of everybody. */
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { accountServersQuery, accountsQuery, endAccount } from '../api/accounts.ts';
import type { Account, AccountServers } from '../generated/types.gen.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Empty, Loading, Problem } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { ViewProps } from '../view-props.ts';

export default function Accounts({ me }: ViewProps) {
  const accounts = useQuery(accountsQuery());
  const servers = useQuery(accountServersQuery());
  const thrown = accounts.error ?? undefined;
  if (thrown) return <Problem thrown={thrown} onRetry={() => void accounts.refetch()} />;
  if (!accounts.data) return <Loading />;
  const all = accounts.data.accounts;
  const own = all.filter(({ principal }) => principal === me.principal);
  const others = all.filter(({ principal }) => principal !== me.principal);
  const taking = servers.data?.servers ?? [];
  const missing = taking.filter(({ id }) => !own.some(({ server }) => server === id));
  return (
    <>
      <h1>Accounts</h1>
      <p>Your accounts at servers where everybody has an account of their own.</p>
      {own.length + missing.length === 0 ? (
        <Empty>No server that you may use accepts personal accounts.</Empty>
      ) : (
        <AccountTable accounts={own} missing={missing} />
      )}
      {others.length === 0 ? null : (
        <>
          <h2>Of others</h2>
          <AccountTable accounts={others} showsWhose />
        </>
      )}
    </>
  );
}

interface TableProps {
  accounts: readonly Account[];
  missing?: AccountServers['servers'];
  showsWhose?: boolean;
}

const COLUMNS = ['Server', 'State', 'Since', { hidden: 'What can be done' }];

function AccountTable({ accounts, missing = [], showsWhose = false }: TableProps) {
  return (
    <Table
      label={showsWhose ? 'Accounts of others' : 'Accounts'}
      columns={[...(showsWhose ? ['Whose'] : []), ...COLUMNS]}
    >
      {accounts.map(account => (
        <AccountRow key={account.id} account={account} showsWhose={showsWhose} />
      ))}
      {missing.map(({ id, name }) => (
        <tr key={id}>
          <td>{name}</td>
          <td>
            <span class="badge">not connected</span>
          </td>
          <td />
          <td>
            <ConnectLink server={name} label="Connect" />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function AccountRow({ account, showsWhose }: { account: Account; showsWhose: boolean }) {
  const cache = useQueryClient();
  const { id, server_name: server, principal_name: whose, needs_sign_in: why } = account;
  const end = async () => {
    await endAccount(id);
    await cache.invalidateQueries({ queryKey: ['accounts'] });
    await cache.invalidateQueries({ queryKey: ['account-servers'] });
  };
  const says = `Calls of ${whose} to ${server} no longer use this account, and what was granted there is revoked.`;
  return (
    <tr>
      {showsWhose ? <td>{whose}</td> : null}
      <td>{server}</td>
      <td>
        {why === null ? (
          <span class="badge good">connected</span>
        ) : (
          <span class="badge bad">sign in again</span>
        )}
      </td>
      <td>
        <Time at={account.updated_at} />
      </td>
      <td class="actions">
        {why === null || showsWhose ? null : <ConnectLink server={server} label="Connect again" />}
        <Confirm label="Disconnect" says={says} act={end} />
      </td>
    </tr>
  );
}

const ConnectLink = ({ server, label }: { server: string; label: string }) => (
  <a class="button" href={`/connect/${encodeURIComponent(server)}`}>
    {label}
  </a>
);
