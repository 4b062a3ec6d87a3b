/** Activity: who called or did what, and its outcome. Filters are in the URL, and a dialog shows all fields of a row. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useMemo } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { auditCountsQuery, auditQuery, exportUrl } from '../api/audit.ts';
import { hasToken } from '../api/request.ts';
import type { AuditEvent } from '../generated/types.gen.ts';
import { Foreign } from '../parts/foreign.tsx';
import { More } from '../parts/more.tsx';
import { Empty, Loading, Problem } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useOpened } from '../parts/use-opened.ts';
import type { ViewProps } from '../view-props.ts';
import './activity.css';
import { byOutcome } from './activity/bars.ts';
import { Filters } from './activity/filters.tsx';
import { Plot } from './activity/plot.tsx';
import { RowDetails } from './activity/row-details.tsx';
import { FILTERS, toSearch, toWhyPath } from './activity/search.ts';
import { OUTCOMES, toDeed } from './activity/words.ts';

const COLUMNS = ['When', 'Who', 'Did', 'To what', 'How it ended', { hidden: 'Details' }];
/** An id is shown only in the details, if it has no name. */
const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const toSentence = (sum: number, badly: number) =>
  `${sum} ${sum === 1 ? 'row' : 'rows'}, ${badly} of them refused or failed,`;
/** Query parameter of the row with open details. */
const ROW = 'row';

export default function Activity({ me }: ViewProps) {
  const seesAll = me.scopes.includes('admin') && !me.limited;
  const [params, set] = useAddress();
  const filterText = FILTERS.map(name => params.get(name) ?? '').join('\n');
  // The time span stays fixed during a search, so that its pages belong together.
  const search = useMemo(() => toSearch(params, Date.now()), [filterText]);
  const found = useInfiniteQuery({ ...auditQuery(search), placeholderData: keepPreviousData });
  const counts = useQuery({ ...auditCountsQuery(search), placeholderData: keepPreviousData });
  const events = found.data?.pages.flatMap(page => page.events);
  const row = params.get(ROW);
  const open = useOpened(
    row,
    events?.find(({ id }) => id === row),
  );
  return (
    <>
      <h1>Activity</h1>
      {seesAll ? null : <p>What you called, and how it ended.</p>}
      <Filters filters={params} seesAll={seesAll} onFilter={set} />
      {found.error ? <Problem thrown={found.error} onRetry={() => void found.refetch()} /> : null}
      {counts.data && events && events.length > 0 ? (
        <Plot counts={counts.data} split={byOutcome} says={toSentence} />
      ) : null}
      {events ? (
        <Rows
          events={events}
          isWhole={!found.hasNextPage}
          explains={seesAll}
          onOpen={id => set(ROW, id)}
        />
      ) : null}
      {!events && !found.error ? <Loading /> : null}
      <p class="actions">
        <More list={found} />
        {hasToken() ? null : (
          <a class="button" href={exportUrl(search)} download="audit.ndjson">
            Export all that match
          </a>
        )}
      </p>
      {row !== null && events && !open ? (
        <p class="notice">The row that was linked is not among those that are loaded.</p>
      ) : null}
      {open ? <RowDetails event={open} explains={seesAll} onClose={() => set(ROW, '')} /> : null}
    </>
  );
}

interface RowsProps {
  events: readonly AuditEvent[];
  /** Whether no other page follows. */
  isWhole: boolean;
  /** Whether the API explains why a call was refused. */
  explains: boolean;
  onOpen(id: string): void;
}

function Rows({ events, isWhole, explains, onOpen }: RowsProps) {
  if (events.length === 0) return <Empty>Nothing matches{isWhole ? '' : ' so far'}.</Empty>;
  return (
    <Table label="Activity" columns={COLUMNS}>
      {events.map(event => (
        <Row key={event.id} event={event} explains={explains} onOpen={() => onOpen(event.id)} />
      ))}
    </Table>
  );
}

interface RowProps {
  event: AuditEvent;
  explains: boolean;
  onOpen(): void;
}

function Row({ event, explains, onOpen }: RowProps) {
  const { at, principal, subject, action, outcome } = event;
  const { word, badge } = OUTCOMES[outcome];
  const isRefusedCall = action === 'tool.call' && outcome === 'denied';
  const named = event.subject_name ?? (ID.test(subject) ? '' : subject);
  return (
    <tr>
      <td>
        <Time at={at} />
      </td>
      <td>
        <Foreign text={event.principal_name ?? principal} max={40} />
      </td>
      <td>{toDeed(action)}</td>
      <td>{named === '' ? null : <Foreign text={named} max={60} />}</td>
      <td>
        <span class={`badge ${badge}`}>{word}</span>{' '}
        {explains && isRefusedCall ? <Link href={toWhyPath(event)}>Why?</Link> : null}
      </td>
      <td>
        <button type="button" class="quiet" onClick={onOpen}>
          Details
        </button>
      </td>
    </tr>
  );
}
