/** Held definitions by server: shown, and decided on one by one, several at once, or all of a server. */
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { approvalsQuery, decide, MAX_ITEMS, type Verb } from '../api/approvals.ts';
import type { Me } from '../api/me.ts';
import { serversQuery } from '../api/servers.ts';
import type { Approval } from '../generated/types.gen.ts';
import { Confirm } from '../parts/confirm.tsx';
import { More } from '../parts/more.tsx';
import { Empty, Loading, Problem } from '../parts/states.tsx';
import { useAddress } from '../parts/use-address.ts';
import type { ViewProps } from '../view-props.ts';
import { ApprovalRow, toLooked } from './approvals/approval-row.tsx';
import { ApproveAll } from './approvals/approve-all.tsx';
import './approvals/approvals.css';
import { useDecisions, type Decide, type Outcome } from './approvals/decisions.ts';
import { settling, usePicks, type Picks } from './approvals/picks.ts';
import { useFocus } from '../parts/use-focus.ts';

const STATES = ['waiting', 'pending', 'changed', 'quarantined', 'rejected'];

const mayDecide = ({ scopes }: Me): boolean =>
  scopes.some(scope => scope === 'admin' || scope === 'servers:write');

export default function Approvals({ me }: ViewProps) {
  const [query, set] = useAddress();
  const server = query.get('server') ?? '';
  const state = STATES.find(one => one === query.get('state')) ?? 'waiting';
  const list = useInfiniteQuery(approvalsQuery({ server, state }));
  const { outcome, decide: onDecide } = useDecisions();
  const picks = usePicks();
  const approvals = onlyOnce(list.data?.pages.flatMap(page => page.approvals) ?? []);
  const { picked, lost } = picks.among(approvals);
  const decidePicked = (verb: Verb) => {
    const items = picked.flatMap(approval => toLooked(approval) ?? []);
    return settling(picks, onDecide, picked)(verb, () => decide(verb, items));
  };
  const filter = (name: string, value: string) => {
    picks.forget([]);
    set(name, value);
  };
  return (
    <>
      <h1>Approvals</h1>
      <p>New and changed definitions of servers are held until somebody approves them.</p>
      <Filter server={server} state={state} isLate={list.isPending} onSet={filter} />
      <Told outcome={outcome} />
      {lost > 0 ? (
        <p class="notice" role="status">
          {lost} that you picked changed meanwhile or {lost === 1 ? 'waits' : 'wait'} no longer, and{' '}
          {lost === 1 ? 'is' : 'are'} not picked any more.{' '}
          <button type="button" class="quiet" onClick={() => picks.forget(approvals)}>
            Understood
          </button>
        </p>
      ) : null}
      {mayDecide(me) && approvals.length > 0 ? (
        <PickedBar count={picked.length} onDecide={decidePicked} />
      ) : null}
      {list.error ? <Problem thrown={list.error} onRetry={() => void list.refetch()} /> : null}
      {list.data || list.error ? null : <Loading />}
      {list.data && approvals.length === 0 ? (
        <Empty>{state === 'rejected' ? 'Nothing is rejected.' : 'Nothing waits.'}</Empty>
      ) : null}
      {byServer(approvals).map(group => (
        <Group
          key={group[0]?.server_id}
          approvals={group}
          picks={picks}
          mayDecide={mayDecide(me)}
          takesAll={state === 'waiting'}
          open={query.get('open') ?? ''}
          onOpen={id => set('open', id)}
          onDecide={onDecide}
        />
      ))}
      {list.hasNextPage ? (
        <p>
          {approvals.length} of {list.data?.pages[0]?.total} <More list={list} />
        </p>
      ) : null}
    </>
  );
}

interface GroupProps {
  approvals: readonly Approval[];
  picks: Picks;
  mayDecide: boolean;
  takesAll: boolean;
  /** Id of the open one. */
  open: string;
  onOpen: (id: string) => void;
  onDecide: Decide;
}

function Group({ approvals, picks, mayDecide: may, takesAll, open, onOpen, onDecide }: GroupProps) {
  const [first] = approvals;
  if (!first) return null;
  const { server_id: serverId, server_name: serverName } = first;
  return (
    <section class="held" aria-label={serverName}>
      <header>
        <h2>
          <bdi>{serverName}</bdi>
        </h2>
        {may && takesAll ? (
          <ApproveAll
            serverId={serverId}
            serverName={serverName}
            onDecide={settling(picks, onDecide, approvals)}
          />
        ) : null}
      </header>
      <ul>
        {approvals.map(approval => (
          <ApprovalRow
            key={approval.id}
            approval={approval}
            mayDecide={may}
            isPicked={picks.has(approval)}
            isOpen={open === approval.id}
            onPick={isPicked => picks.pick(approval, isPicked)}
            onOpen={isOpen => onOpen(isOpen ? approval.id : '')}
            onDecide={settling(picks, onDecide, [approval])}
          />
        ))}
      </ul>
    </section>
  );
}

interface FilterProps {
  server: string;
  state: string;
  /** The list is still loading; the servers are requested after it. */
  isLate: boolean;
  onSet: (name: string, value: string) => void;
}

function Filter({ server, state, isLate, onSet }: FilterProps) {
  const servers = useQuery({ ...serversQuery(), enabled: !isLate });
  const known = servers.data?.servers ?? [];
  const more = (servers.data?.total ?? 0) - known.length;
  return (
    <div class="filter">
      <label>
        Server
        <select value={server} onChange={event => onSet('server', event.currentTarget.value)}>
          <option value="">all</option>
          {known.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
          {server === '' || known.some(({ id }) => id === server) ? null : (
            <option value={server}>{server}</option>
          )}
          {more > 0 ? <option disabled>{more} more are not offered here</option> : null}
        </select>
      </label>
      <label>
        State
        <select value={state} onChange={event => onSet('state', event.currentTarget.value)}>
          {STATES.map(one => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** The outcome of the last decision. It takes the focus, since what was decided on is gone. */
function Told({ outcome }: { outcome: Outcome | undefined }) {
  const place = useFocus<HTMLParagraphElement>(outcome);
  if (!outcome) return null;
  const kind = outcome.isBad ? 'notice problem' : 'notice';
  return (
    <p ref={place} class={kind} role={outcome.isBad ? 'alert' : 'status'} tabIndex={-1}>
      {outcome.text}
    </p>
  );
}

function PickedBar(props: { count: number; onDecide: (verb: Verb) => Promise<void> }) {
  const { count, onDecide } = props;
  const isDisabled = count === 0 || count > MAX_ITEMS;
  const what = `${count} as you picked ${count === 1 ? 'it' : 'them'}, or none where one is another by now.`;
  return (
    <div class="actions picked">
      <Confirm
        label={`Approve picked (${count})`}
        says={`Approve ${what}`}
        isDisabled={isDisabled}
        act={() => onDecide('approve')}
      />
      <Confirm
        label={`Reject picked (${count})`}
        says={`Reject ${what} What is rejected is not offered.`}
        isDisabled={isDisabled}
        act={() => onDecide('reject')}
      />
      {count > MAX_ITEMS ? <span>At most {MAX_ITEMS} at once.</span> : null}
    </div>
  );
}

/** Removes duplicates: an entry may move between pages while they load. */
const onlyOnce = (approvals: readonly Approval[]): Approval[] => [
  ...new Map(approvals.map(approval => [approval.id, approval])).values(),
];

function byServer(approvals: readonly Approval[]): Approval[][] {
  const groups = Map.groupBy(approvals, ({ server_id: id }) => id);
  return [...groups.values()].toSorted((one, other) =>
    (one[0]?.server_name ?? '') < (other[0]?.server_name ?? '') ? -1 : 1,
  );
}
