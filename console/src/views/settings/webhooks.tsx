/** Webhooks: the list, the form for a new one (`?add=webhook`), or the page of one (`?webhook=ID`). */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { WEBHOOK_LIST, webhooksQuery, type WithSecret } from '../../api/webhooks.ts';
import type { Webhook } from '../../generated/types.gen.ts';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { AddWebhook } from './webhook-form.tsx';
import { WebhookDetails } from './webhook.tsx';
import { toEventWords, WEBHOOKS_PATH as HERE } from './webhook-words.ts';

export function Webhooks() {
  const [search] = useAddress();
  const [, go] = useLocation();
  const cache = useQueryClient();
  const list = useInfiniteQuery(webhooksQuery());
  const [made, setMade] = useState<WithSecret>();
  const id = search.get('webhook');
  const isAdding = search.get('add') === 'webhook';
  const [telling, tell] = useTelling(isAdding || id !== null);
  const back = (says?: string) => {
    tell(says);
    // Not the query of one webhook, which may be deleted.
    void cache.invalidateQueries({ queryKey: WEBHOOK_LIST });
    go(HERE);
  };
  if (isAdding) {
    const onMade = (given: WithSecret) => {
      setMade(given);
      back();
    };
    return <AddWebhook onMade={onMade} />;
  }
  if (id !== null) {
    const onDeleted = () => {
      // The secret of another webhook stays.
      setMade(shown => (shown?.webhook.id === id ? undefined : shown));
      back('The webhook is deleted.');
    };
    return <WebhookDetails key={id} id={id} onDeleted={onDeleted} />;
  }
  return (
    <>
      <p>
        Programs and channels that get an event when a tool is held, a server fails or answers
        again, somebody signs in, or too much is called.
      </p>
      <Told telling={telling} />
      {made ? (
        <ShownOnce
          label={`Secret of ${toShown(made.webhook.name, 100)}`}
          value={made.secret}
          says="With it the receiver checks that events come from this gateway."
          onDone={() => {
            setMade(undefined);
            back('The webhook is below.');
          }}
        />
      ) : null}
      <p class="actions">
        <Link class="button" href={`${HERE}&add=webhook`}>
          Add a webhook
        </Link>
      </p>
      <PagedList list={list} itemsOf={page => page.webhooks} none="There are no webhooks yet.">
        {webhooks => (
          <Table
            label="Webhooks"
            columns={['Name', 'Where', 'Events', 'State', 'Waiting', 'Given up']}
          >
            {webhooks.map(webhook => (
              <WebhookRow key={webhook.id} webhook={webhook} />
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}

function WebhookRow({ webhook }: { webhook: Webhook }) {
  const { id, name, origin, events, enabled, pending, dead } = webhook;
  return (
    <tr>
      <th scope="row">
        <Link href={`${HERE}&webhook=${encodeURIComponent(id)}`}>
          <Foreign text={name} max={100} />
        </Link>
      </th>
      <td>
        <Foreign text={origin} max={200} />
      </td>
      <td class="sentence">{toEventWords(events)}</td>
      <td>
        <span class={enabled ? 'badge good' : 'badge'}>{enabled ? 'on' : 'off'}</span>
      </td>
      <td>{pending}</td>
      <td>{dead > 0 ? <span class="badge bad">{dead}</span> : 0}</td>
    </tr>
  );
}
