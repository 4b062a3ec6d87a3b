/** What each key of the ring seals, and the rotation to the active key. */
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { KEYS, keysQuery, rotateAll } from '../../api/keys.ts';
import type { Keys, RotatedKeys } from '../../generated/types.gen.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAct } from '../../parts/use-act.ts';

type Key = Keys['keys'][number];

const COLUMNS = [
  'Key',
  'State',
  'Secrets',
  'Servers',
  'Access tokens',
  'Accounts',
  'Client tokens',
];

export function EncryptionKeys() {
  const found = useQuery(keysQuery());
  const problem = found.error ? (
    <Problem thrown={found.error} onRetry={() => void found.refetch()} />
  ) : null;
  if (!found.data) return problem ?? <Loading />;
  const { keys, active, tokens_remaining: tokens } = found.data;
  const lost = keys.filter(key => !key.in_ring && countOf(key) > 0);
  return (
    <>
      {problem}
      <p>
        Everything that is sealed is under a key of the ring. Add a new key to the ring with{' '}
        <code>portico keys new</code>, or as a secret of the Worker; keys are never shown.
      </p>
      <Table label="Keys" columns={COLUMNS}>
        {keys.map(key => (
          <tr key={key.id}>
            <th scope="row">
              <Foreign text={key.id} max={100} />
            </th>
            <td>
              <State keyOf={key} active={active} />
            </td>
            {[key.secrets, key.servers, key.access_tokens, key.accounts, key.tokens].map(
              (count, at) => (
                <td key={COLUMNS[at + 2]}>{count}</td>
              ),
            )}
          </tr>
        ))}
      </Table>
      {lost.map(({ id }) => (
        <p key={id} class="problem" role="alert">
          What is under <Foreign text={id} max={100} /> cannot be opened: that key is not in the
          ring. Put it back and restart the gateway.
        </p>
      ))}
      <Rotation keys={found.data} />
      {tokens > 0 ? (
        <p>
          {tokens} client {tokens === 1 ? 'token moves' : 'tokens move'} when next used. Keep the
          former key in the ring until then.
        </p>
      ) : null}
    </>
  );
}

const countOf = ({ secrets, servers, access_tokens, accounts, tokens }: Key): number =>
  secrets + servers + access_tokens + accounts + tokens;

function State({ keyOf: { id, in_ring: isThere }, active }: { keyOf: Key; active: string }) {
  if (id === active) return <span class="badge good">active</span>;
  if (isThere) return <span class="badge">opens what is under it</span>;
  return <span class="badge bad">missing</span>;
}

function Rotation({ keys: { active, remaining } }: { keys: Keys }) {
  const cache = useQueryClient();
  const { isBusy, thrown, run, place } = useAct<HTMLParagraphElement>();
  const [progress, setProgress] = useState<RotatedKeys>();
  const [telling, tell] = useTelling();
  const running = useRef<AbortController>();
  useEffect(() => () => running.current?.abort(), []);
  const rotate = () =>
    run(async () => {
      const stop = new AbortController();
      running.current = stop;
      tell();
      try {
        const { keys, unreadable } = await rotateAll(setProgress, stop.signal);
        cache.setQueryData(KEYS, keys);
        tell(toOutcome(keys, unreadable));
      } catch (problem) {
        if (!stop.signal.aborted) throw problem;
        tell('Stopped. Records that were moved stay moved.');
        void cache.invalidateQueries({ queryKey: KEYS });
      } finally {
        setProgress(undefined);
      }
    });
  const done = progress ? progress.total - progress.remaining : 0;
  return (
    <>
      <Told telling={telling} />
      {thrown === undefined ? null : <Problem thrown={thrown} />}
      {isBusy && progress ? (
        <p>
          <progress class="share" aria-label="Rotation" max={progress.total} value={done} /> {done}{' '}
          of {progress.total} under <Foreign text={active} max={100} />
        </p>
      ) : null}
      {remaining === 0 && !isBusy ? (
        <p>
          Everything that is sealed is under <Foreign text={active} max={100} />.
        </p>
      ) : (
        <p ref={place} class="actions">
          <button type="button" disabled={isBusy} onClick={() => rotate()}>
            Put {remaining} {remaining === 1 ? 'record' : 'records'} under the active key
          </button>
          {isBusy ? (
            <button type="button" class="quiet" onClick={() => running.current?.abort()}>
              Stop
            </button>
          ) : null}
        </p>
      )}
    </>
  );
}

function toOutcome({ remaining, active }: Keys, unreadable: number): string {
  if (remaining === 0) return `Done: everything that is sealed is under ${active}.`;
  const why =
    unreadable > 0 ? `; ${unreadable} of them cannot be opened with the keys of the ring` : '';
  return `${remaining} are not under ${active}${why}.`;
}
