/**
 * Secrets, to which the credentials of servers refer: the list, and the form to add or replace one. The open page is in the address:
 * `?add=one`, `?secret=NAME`.
 */
import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { secretsQuery } from '../api/secrets.ts';
import { NameFilters } from '../parts/filters.tsx';
import { Empty, Loading, Problem } from '../parts/states.tsx';
import { Told, useTelling } from '../parts/told.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useOpened } from '../parts/use-opened.ts';
import type { ViewProps } from '../view-props.ts';
import { PutSecret } from './secrets/put.tsx';
import { SecretTable } from './secrets/table.tsx';

/** Rows shown at first, and added per click. */
const STEP = 100;

export default function Secrets({ me }: ViewProps) {
  const [search, set] = useAddress();
  const [, go] = useLocation();
  const list = useQuery(secretsQuery());
  const [shown, setShown] = useState(STEP);
  const name = search.get('secret');
  const secrets = list.data;
  const found = secrets?.find(secret => secret.name === name);
  const replaced = useOpened(name, found);
  const isAdding = search.get('add') === 'one';
  const [telling, tell] = useTelling(isAdding || replaced !== undefined);
  const onStored = (stored: string) => {
    tell(`${stored} is stored. Servers use it within a second.`);
    go('/secrets');
  };
  if (isAdding) return <PutSecret onStored={onStored} />;
  if (replaced) return <PutSecret key={replaced.name} replaced={replaced} onStored={onStored} />;
  const part = search.get('name') ?? '';
  const matching = (secrets ?? []).filter(each => each.name.includes(part.toUpperCase()));
  return (
    <>
      <h1>Secrets</h1>
      <p>
        What credentials of servers refer to as <code>{'${NAME}'}</code>. A value is sealed, sent
        only to the origins of its secret, and never shown.
      </p>
      <Told telling={telling} />
      {name !== null && secrets ? (
        <p class="problem" role="alert">
          This secret no longer exists.
        </p>
      ) : null}
      <p class="actions">
        <Link class="button" href="/secrets?add=one">
          Add a secret
        </Link>
      </p>
      {list.error ? <Problem thrown={list.error} onRetry={() => void list.refetch()} /> : null}
      {secrets || list.error ? null : <Loading />}
      {secrets && secrets.length > 0 ? (
        <NameFilters name={part} onName={value => set('name', value)} maxLength={64} />
      ) : null}
      {secrets && matching.length === 0 ? (
        <Empty>{part === '' ? 'There is none yet.' : 'No secret has such a name.'}</Empty>
      ) : null}
      {matching.length > 0 ? (
        <>
          <p role="status" class="empty">
            {Math.min(shown, matching.length)} of {secrets?.length}
          </p>
          <SecretTable
            secrets={matching.slice(0, shown)}
            seesServers={me.scopes.some(scope => scope === 'admin' || scope === 'servers:read')}
            onDeleted={deleted => tell(`${deleted} is deleted.`)}
          />
        </>
      ) : null}
      {matching.length > shown ? (
        <button type="button" class="quiet" onClick={() => setShown(shown + STEP)}>
          Show more
        </button>
      ) : null}
    </>
  );
}
