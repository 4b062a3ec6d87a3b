/** What there is, and what needs a person. */
import { useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { accountsQuery } from '../api/accounts.ts';
import { serversQuery } from '../api/servers.ts';
import type { Server } from '../generated/types.gen.ts';
import { Empty, Loading, Problem } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import type { ViewProps } from '../views.ts';

const KIND: Readonly<Record<string, string>> = { CONNECTED: 'good', ERROR: 'bad' };

export default function Overview({ me }: ViewProps) {
  const servers = useQuery({ ...serversQuery(), enabled: canSeeServers(me) });
  const accounts = useQuery(accountsQuery());
  if (servers.error) {
    return <Problem thrown={servers.error} onRetry={() => void servers.refetch()} />;
  }
  const ended = accounts.data?.accounts.filter(
    ({ principal, needs_sign_in: why }) => principal === me.principal && why !== null,
  );
  return (
    <>
      <h1>Overview</h1>
      {ended && ended.length > 0 ? (
        <p class="notice">
          {ended.map(({ server_name: name }) => name).join(', ')}: sign in again.{' '}
          <Link href="/accounts">Accounts</Link>
        </p>
      ) : null}
      {canSeeServers(me) ? <Servers servers={servers.data?.servers} /> : null}
    </>
  );
}

const canSeeServers = ({ scopes }: ViewProps['me']) =>
  scopes.some(scope => scope === 'admin' || scope === 'servers:read');

function Servers({ servers }: { servers: readonly Server[] | undefined }) {
  if (!servers) return <Loading />;
  if (servers.length === 0) return <Empty>No server is registered yet.</Empty>;
  return (
    <Table label="Servers" columns={['Server', 'State', 'Tools', 'Held', 'Last error']}>
      {servers.map(({ id, name, status, tool_count: tools, held_tools: held, last_error: why }) => (
        <tr key={id}>
          <th scope="row">{name}</th>
          <td>
            <span class={`badge ${KIND[status] ?? ''}`}>{status.toLowerCase()}</span>
          </td>
          <td>{tools}</td>
          <td>{held}</td>
          <td>{why ?? ''}</td>
        </tr>
      ))}
    </Table>
  );
}
