/** Accounts at servers: the user's own, to connect and end, and for administrators those of everybody. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/preact-query';
import { accountServersQuery, accountsQuery, endAccount } from '../api/accounts.ts';
import { mayUse } from '../api/me.ts';
import type { Account, AccountServers } from '../generated/types.gen.ts';
import { Confirm } from '../parts/confirm.tsx';
import { More } from '../parts/more.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Empty, Loading, Problem } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Told, useTelling } from '../parts/told.tsx';
import { Time } from '../parts/time.tsx';
import type { ViewProps } from '../view-props.ts';

export default function Accounts({ me }: ViewProps) {
  const own = useInfiniteQuery(accountsQuery(me.principal));
  const mayCall = mayUse(me, 'tools:call');
  const servers = useQuery({ ...accountServersQuery(), enabled: mayCall });
  const isKnown = !mayCall || servers.data !== undefined;
  const cache = useQueryClient();
  const [telling, tell] = useTelling();
  const onEnded = ({ server_name: server }: Account) => {
    tell(`The account at ${server} is disconnected.`);
    void cache.invalidateQueries({ queryKey: ['accounts'] });
    void cache.invalidateQueries({ queryKey: ['account-servers'] });
  };
  const accounts = own.data?.pages.flatMap(page => page.accounts);
  const total = own.data?.pages[0]?.total ?? 0;
  // Until all are loaded it is not known at which servers there is none.
  const taking = own.hasNextPage ? [] : (servers.data?.servers ?? []);
  const missing = taking.filter(({ id }) => !accounts?.some(({ server }) => server === id));
  return (
    <>
      <h1>Accounts</h1>
      <p>Your accounts at servers where everybody has an account of their own.</p>
      <Told telling={telling} />
      {own.error ? <Problem thrown={own.error} onRetry={() => void own.refetch()} /> : null}
      {servers.error ? (
        <Problem thrown={servers.error} onRetry={() => void servers.refetch()} />
      ) : null}
      {(accounts || own.error) && (isKnown || servers.error) ? null : <Loading />}
      {accounts && isKnown && accounts.length + missing.length === 0 ? (
        <Empty>No server that you may use accepts personal accounts.</Empty>
      ) : null}
      {accounts && accounts.length + missing.length > 0 ? (
        <AccountTable accounts={accounts} missing={missing} onEnded={onEnded} />
      ) : null}
      <More list={own} />
      {me.scopes.includes('admin') && !me.limited ? (
        <Everybody own={total} onEnded={onEnded} />
      ) : null}
    </>
  );
}

interface EverybodyProps {
  /** How many are the user's own; only if there are more, they are shown. */
  own: number;
  onEnded: (account: Account) => void;
}

function Everybody({ own, onEnded }: EverybodyProps) {
  const list = useInfiniteQuery(accountsQuery());
  const total = list.data?.pages[0]?.total ?? 0;
  if (!list.error && total <= own) return null;
  return (
    <>
      <h2>Of everybody</h2>
      <PagedList list={list} itemsOf={page => page.accounts} none="Nobody has one.">
        {accounts => <AccountTable accounts={accounts} showsWhose onEnded={onEnded} />}
      </PagedList>
    </>
  );
}

interface TableProps {
  accounts: readonly Account[];
  missing?: AccountServers['servers'];
  showsWhose?: boolean;
  onEnded: (account: Account) => void;
}

const COLUMNS = ['Server', 'State', 'Since', { hidden: 'What can be done' }];

function AccountTable(props: TableProps) {
  const { accounts, missing = [], showsWhose = false, onEnded } = props;
  return (
    <Table
      label={showsWhose ? 'Accounts of everybody' : 'Accounts'}
      columns={[...(showsWhose ? ['Whose'] : []), ...COLUMNS]}
    >
      {accounts.map(account => (
        <AccountRow
          key={account.id}
          account={account}
          showsWhose={showsWhose}
          onEnded={() => onEnded(account)}
        />
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

interface RowProps {
  account: Account;
  showsWhose: boolean;
  onEnded: () => void;
}

function AccountRow({ account, showsWhose, onEnded }: RowProps) {
  const { id, server_name: server, principal_name: whose, needs_sign_in: why } = account;
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
        <Confirm label="Disconnect" says={says} act={() => endAccount(id)} onDone={onEnded} />
      </td>
    </tr>
  );
}

const ConnectLink = ({ server, label }: { server: string; label: string }) => (
  <a class="button" href={`/connect/${encodeURIComponent(server)}`}>
    {label}
  </a>
);
