/** The deliveries of a webhook: sent, waiting, or given up, which can be retried. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { deliveriesQuery, retryDelivery, WEBHOOKS } from '../../api/webhooks.ts';
import type { WebhookDelivery } from '../../generated/types.gen.ts';
import { Select } from '../../parts/field.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Problem } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useAddress } from '../../parts/use-address.ts';
import { STATE_WORDS, toWord } from './webhook-words.ts';

const STATES = [['', 'All'], ...Object.entries(STATE_WORDS)] as const;
const COLUMNS = ['When', 'What', 'State', 'Tries', 'Outcome', { hidden: 'What can be done' }];
const BADGES: Readonly<Record<WebhookDelivery['state'], string>> = {
  dead: 'badge bad',
  pending: 'badge',
  delivered: 'badge good',
};

export function Deliveries({ webhook }: { webhook: string }) {
  const [search, set] = useAddress();
  const cache = useQueryClient();
  const state = search.get('state') ?? '';
  const list = useInfiniteQuery(deliveriesQuery(webhook, state));
  const [telling, tell] = useTelling();
  const { isBusy, thrown, run } = useAct();
  const again = (id: string) =>
    run(async () => {
      await retryDelivery(webhook, id);
      tell('It is tried again.');
      void cache.invalidateQueries({ queryKey: WEBHOOKS });
    });
  return (
    <>
      <h3>What was sent</h3>
      <div class="filters">
        <div class="field">
          <Select
            label="State"
            value={state}
            options={STATES}
            onValue={value => set('state', value)}
          />
        </div>
      </div>
      <Told telling={telling} />
      {thrown === undefined ? null : <Problem thrown={thrown} />}
      <PagedList list={list} itemsOf={page => page.deliveries} none="There is nothing.">
        {deliveries => (
          <Table label="What was sent" columns={COLUMNS}>
            {deliveries.map(delivery => (
              <DeliveryRow
                key={delivery.id}
                delivery={delivery}
                isBusy={isBusy}
                onAgain={() => again(delivery.id)}
              />
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}

interface RowProps {
  delivery: WebhookDelivery;
  isBusy: boolean;
  onAgain: () => void;
}

function DeliveryRow({ delivery, isBusy, onAgain }: RowProps) {
  const { type, state, attempts, problem, occurred_at: at, next_at: next } = delivery;
  return (
    <tr>
      <td>
        <Time at={at} />
      </td>
      <td>{toWord(type)}</td>
      <td>
        <span class={BADGES[state]}>{STATE_WORDS[state]}</span>
      </td>
      <td>{attempts}</td>
      <td class="sentence">
        {problem === null ? null : <Foreign text={problem} max={300} />}
        {next === null || problem === null ? null : (
          <>
            {' '}
            Next try: <Time at={next} />
          </>
        )}
      </td>
      <td>
        {state === 'dead' ? (
          <button
            type="button"
            class="quiet"
            disabled={isBusy}
            aria-label={`Send again: ${toWord(type)}`}
            onClick={onAgain}
          >
            Send again
          </button>
        ) : null}
      </td>
    </tr>
  );
}
