/** Servers: the list, or the open page. All of it is in the address: `?server=ID`, `?add=one`, `?add=file`, `?name=…&status=…`. */
import { useInfiniteQuery } from '@tanstack/preact-query';
import { Link, useLocation, useSearchParams } from 'wouter-preact';
import { serverListQuery, STATUSES } from '../api/servers.ts';
import type { Server } from '../generated/types.gen.ts';
import { NameFilters } from '../parts/filters.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Table } from '../parts/table.tsx';
import { Told, useTelling, type Telling } from '../parts/told.tsx';
import { useAddress } from '../parts/use-address.ts';
import type { ViewProps } from '../view-props.ts';
import { AddServer } from './servers/add.tsx';
import { adviceFor } from './servers/advice.ts';
import { ServerDetails } from './servers/details.tsx';
import { ImportServers } from './servers/import.tsx';
import { StatusBadge, STATUS_WORDS } from './servers/status.tsx';
import './servers/servers.css';

export default function Servers({ me }: ViewProps) {
  const [search] = useSearchParams();
  const mayWrite = me.scopes.some(scope => scope === 'admin' || scope === 'servers:write');
  const [, go] = useLocation();
  const id = search.get('server');
  const [telling, tell] = useTelling(id !== null || search.has('add'));
  const onDeleted = (name: string) => {
    tell(`${name} is deleted.`);
    go('/servers');
  };
  if (id !== null) {
    return <ServerDetails key={id} id={id} me={me} mayWrite={mayWrite} onDeleted={onDeleted} />;
  }
  if (mayWrite && search.get('add') === 'one') return <AddServer />;
  if (mayWrite && search.get('add') === 'file') return <ImportServers />;
  return <List mayWrite={mayWrite} telling={telling} />;
}

interface ListProps {
  mayWrite: boolean;
  telling: Telling | undefined;
}

function List({ mayWrite, telling }: ListProps) {
  const [search, set] = useAddress();
  const name = search.get('name') ?? '';
  const status = search.get('status') ?? '';
  const list = useInfiniteQuery({
    ...serverListQuery({ name, status }),
    placeholderData: before => before,
  });
  return (
    <>
      <h1>Servers</h1>
      <Told telling={telling} />
      {mayWrite ? (
        <p class="actions">
          <Link class="button" href="/servers?add=one">
            Add a server
          </Link>
          <Link class="button quiet" href="/servers?add=file">
            Add from a file
          </Link>
        </p>
      ) : null}
      <NameFilters name={name} onName={value => set('name', value)} maxLength={63}>
        <label>
          State
          <select
            value={status}
            onChange={({ currentTarget }) => set('status', currentTarget.value)}
          >
            <option value="">Any</option>
            {STATUSES.map(each => (
              <option key={each} value={each}>
                {STATUS_WORDS[each]}
              </option>
            ))}
          </select>
        </label>
      </NameFilters>
      <PagedList
        list={list}
        itemsOf={page => page.servers}
        none={
          name === '' && status === ''
            ? 'No server is registered yet. Add the first one.'
            : 'No server matches.'
        }
      >
        {servers => <ServerTable servers={servers} />}
      </PagedList>
    </>
  );
}

const ServerTable = ({ servers }: { servers: readonly Server[] }) => (
  <Table label="Servers" columns={['Server', 'State', 'Tools', 'Held', 'What is wrong']}>
    {servers.map(server => (
      <tr key={server.id}>
        <th scope="row">
          <Link href={`/servers?server=${encodeURIComponent(server.id)}`}>{server.name}</Link>
        </th>
        <td>
          <StatusBadge status={server.status} />
        </td>
        <td>{server.tool_count}</td>
        <td>{server.held_tools}</td>
        <td class="sentence">{adviceFor(server)?.says ?? ''}</td>
      </tr>
    ))}
  </Table>
);
