/** Machines that offer their stdio servers: their state, and how to add one (`?add=one`), give it a new token, or revoke it. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { CONNECTORS, connectorsQuery, type Enrolled } from '../api/connectors.ts';
import type { Connector } from '../generated/types.gen.ts';
import { PagedList } from '../parts/paged-list.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { Told, useTelling } from '../parts/told.tsx';
import { useAddress } from '../parts/use-address.ts';
import type { ViewProps } from '../view-props.ts';
import { AddMachine } from './machines/add.tsx';
import { toCommand } from './machines/command.ts';
import { MachineTable } from './machines/table.tsx';

export default function Machines({ me }: ViewProps) {
  const [search] = useAddress();
  const [, go] = useLocation();
  const cache = useQueryClient();
  const [enrolled, setEnrolled] = useState<Enrolled>();
  const list = useInfiniteQuery(connectorsQuery());
  const mayWrite = me.scopes.some(scope => scope === 'admin' || scope === 'servers:write');
  const isAdding = mayWrite && search.get('add') === 'one';
  const [telling, tell] = useTelling(isAdding);
  const refresh = () => void cache.invalidateQueries({ queryKey: CONNECTORS });
  const onEnrolled = (made: Enrolled) => {
    setEnrolled(made);
    tell();
    refresh();
  };
  const onRevoked = ({ id, name }: Connector) => {
    // The command for another machine stays.
    setEnrolled(shown => (shown?.connector.id === id ? undefined : shown));
    tell(`${name} is revoked.`);
    refresh();
  };
  if (isAdding) {
    const onAdded = (made: Enrolled) => {
      onEnrolled(made);
      go('/machines');
    };
    return <AddMachine onEnrolled={onAdded} />;
  }
  return (
    <>
      <h1>Machines</h1>
      <p>
        Each runs <code>portico connect</code> and offers the stdio servers of its mcp.json. What it
        offers is among the servers.
      </p>
      <Told telling={telling} />
      {enrolled ? (
        <ShownOnce
          label={`Command for ${enrolled.connector.name}`}
          value={toCommand(location.origin, enrolled.token)}
          says="Run it on the machine, in the folder of its mcp.json, whenever it starts. Its token is in it."
          onDone={() => {
            setEnrolled(undefined);
            tell('The machine is below, connected once it is there.');
          }}
        />
      ) : null}
      {mayWrite ? (
        <p class="actions">
          <Link class="button" href="/machines?add=one">
            Add a machine
          </Link>
        </p>
      ) : null}
      <PagedList
        list={list}
        itemsOf={page => page.connectors}
        none="No machine offers stdio servers yet."
      >
        {machines => (
          <MachineTable
            machines={machines}
            mayWrite={mayWrite}
            onEnrolled={onEnrolled}
            onRevoked={onRevoked}
          />
        )}
      </PagedList>
    </>
  );
}
