/** The state of the servers, and what needs attention. */
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { accountsQuery } from '../api/accounts.ts';
import { mayUse, type Me } from '../api/me.ts';
import {
  heldQuery,
  serverSummaryQuery,
  STATUSES,
  type ServerSummary,
  type Status,
} from '../api/servers.ts';
import type { Server } from '../generated/types.gen.ts';
import { Empty, Loading, Problem } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import type { ViewProps } from '../view-props.ts';
import { Today } from './overview/today.tsx';
import { adviceFor } from './servers/advice.ts';
import { STATUS_WORDS, StatusBadge } from './servers/status.tsx';

/** Servers shown here; the rest are in their own view. */
const ROWS = 20;

export default function Overview({ me }: ViewProps) {
  const seesServers = me.scopes.some(scope => scope === 'admin' || scope === 'servers:read');
  const servers = useQuery({ ...serverSummaryQuery(), enabled: seesServers });
  const summary = servers.data;
  return (
    <>
      <h1>Overview</h1>
      {servers.error ? (
        <Problem thrown={servers.error} onRetry={() => void servers.refetch()} />
      ) : null}
      {summary ? <Counts counts={summary.counts} /> : null}
      <h2>What waits for you</h2>
      <Waiting me={me} seesServers={seesServers} summary={summary} />
      {me.scopes.includes('admin') || me.scopes.includes('tools:read') ? (
        <>
          <h2>In the last 24 hours</h2>
          <Today />
        </>
      ) : null}
      {summary ? <Servers summary={summary} /> : null}
    </>
  );
}

function Counts({ counts }: Pick<ServerSummary, 'counts'>) {
  const isShown = (status: Status) =>
    counts[status] > 0 || status === 'CONNECTED' || status === 'ERROR';
  return (
    <ul class="tiles" aria-label="Servers by state">
      {STATUSES.filter(isShown).map(status => (
        <li key={status}>
          <Link href={`/servers?status=${status}`}>
            <strong>{counts[status]}</strong> {STATUS_WORDS[status]}
          </Link>
        </li>
      ))}
    </ul>
  );
}

interface WaitingProps {
  me: Me;
  seesServers: boolean;
  summary: ServerSummary | undefined;
}

function Waiting({ me, seesServers, summary }: WaitingProps) {
  const hasAccounts = mayUse(me, 'tools:call');
  const accounts = useInfiniteQuery({ ...accountsQuery(me.principal), enabled: hasAccounts });
  const held = useQuery({ ...heldQuery(), enabled: seesServers });
  const thrown = accounts.error ?? held.error;
  if (thrown) return <Problem thrown={thrown} />;
  const isLoading = (hasAccounts && !accounts.data) || (seesServers && !(summary && held.data));
  if (isLoading) return <Loading />;
  const own = accounts.data?.pages.flatMap(page => page.accounts) ?? [];
  const ended = own.filter(({ needs_sign_in: why }) => why !== null);
  const servers = summary?.broken ?? [];
  const more = summary ? summary.counts.ERROR + summary.counts.DEGRADED - servers.length : 0;
  const holds = held.data?.total ?? 0;
  if (ended.length + servers.length + holds === 0 && !accounts.hasNextPage)
    return <Empty>Nothing waits for you.</Empty>;
  return (
    <ul class="waiting">
      {servers.map(server => (
        <BrokenServer key={server.id} server={server} />
      ))}
      {more > 0 ? (
        <li>
          Something is wrong with {more} more. <Link href="/servers">Servers</Link>
        </li>
      ) : null}
      {holds > 0 ? (
        <li>
          {holds === 1 ? '1 tool or instruction waits' : `${holds} tools or instructions wait`} for
          an approval. <Link href="/approvals">Approvals</Link>
        </li>
      ) : null}
      {ended.map(({ id, server_name: name }) => (
        <li key={id}>
          Your account at {name} ended: sign in again. <Link href="/accounts">Accounts</Link>
        </li>
      ))}
      {accounts.hasNextPage ? (
        <li>
          Only your {own.length} newest accounts were checked.{' '}
          <Link href="/accounts">Accounts</Link>
        </li>
      ) : null}
    </ul>
  );
}

const linkTo = (id: string) => `/servers?server=${encodeURIComponent(id)}`;

function BrokenServer({ server }: { server: Server }) {
  const advice = adviceFor(server);
  return (
    <li>
      <Link href={linkTo(server.id)}>{server.name}</Link>: {advice?.says} {advice?.todo}
    </li>
  );
}

function Servers({ summary: { first, total } }: { summary: ServerSummary }) {
  if (total === 0) {
    return (
      <Empty>
        No server is registered yet. <Link href="/servers">Servers</Link>
      </Empty>
    );
  }
  return (
    <>
      <h2>Servers</h2>
      <Table label="Servers" columns={['Server', 'State', 'Tools', 'Held']}>
        {first.slice(0, ROWS).map(({ id, name, status, tool_count: tools, held_tools: held }) => (
          <tr key={id}>
            <th scope="row">
              <Link href={linkTo(id)}>{name}</Link>
            </th>
            <td>
              <StatusBadge status={status} />
            </td>
            <td>{tools}</td>
            <td>{held}</td>
          </tr>
        ))}
      </Table>
      {total > ROWS ? (
        <p>
          <Link href="/servers">All {total} servers</Link>
        </p>
      ) : null}
    </>
  );
}
