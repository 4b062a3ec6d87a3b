/** One webhook: its actions and deliveries. */
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import {
  deleteWebhook,
  rotateWebhook,
  testWebhook,
  updateWebhook,
  webhookQuery,
  WEBHOOKS,
} from '../../api/webhooks.ts';
import type { Webhook, WebhookTest } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAct } from '../../parts/use-act.ts';
import { Deliveries } from './deliveries.tsx';
import { EditWebhook } from './webhook-form.tsx';
import { toEventWords, WEBHOOKS_PATH } from './webhook-words.ts';
import { useFocus } from '../../parts/use-focus.ts';

interface DetailsProps {
  id: string;
  onDeleted: () => void;
}

export function WebhookDetails({ id, onDeleted }: DetailsProps) {
  const found = useQuery(webhookQuery(id));
  const webhook = found.data;
  if (!webhook) {
    return found.error ? (
      <Problem thrown={found.error} onRetry={() => void found.refetch()} />
    ) : (
      <Loading />
    );
  }
  return (
    <>
      <Head webhook={webhook} onDeleted={onDeleted} />
      <Deliveries webhook={id} />
    </>
  );
}

function Head({ webhook, onDeleted }: { webhook: Webhook; onDeleted: () => void }) {
  const { id, name, origin, format, events, enabled, revision } = webhook;
  const cache = useQueryClient();
  const heading = useFocus<HTMLHeadingElement>();
  const [secret, setSecret] = useState<string>();
  const [isEdited, setEdited] = useState(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const [telling, tell] = useTelling(isEdited);
  const { isBusy, thrown, run, place } = useAct<HTMLDivElement>();
  const act = (what: () => Promise<string>) =>
    run(async () => {
      tell(await what());
      void cache.invalidateQueries({ queryKey: WEBHOOKS });
    });
  return (
    <>
      <p>
        <Link href={WEBHOOKS_PATH}>All webhooks</Link>
      </p>
      <h3 ref={heading} tabIndex={-1}>
        <Foreign text={name} max={100} />
      </h3>
      <p>
        It is told at <Foreign text={origin} max={200} />
        {format === 'slack' ? ', as Slack wants it,' : ''} of: {toEventWords(events)}.{' '}
        {enabled ? '' : 'It is off now: no events are sent to it.'}
      </p>
      <Told telling={telling} />
      {secret === undefined ? null : (
        <ShownOnce
          label={`New secret of ${toShown(name, 100)}`}
          value={secret}
          says="For a day, events are signed with the old secret too."
          onDone={() => {
            setSecret(undefined);
            heading.current?.focus();
          }}
        />
      )}
      {thrown === undefined ? null : <Problem thrown={thrown} />}
      <div ref={place} class="actions">
        <button
          type="button"
          disabled={isBusy}
          onClick={() => act(async () => toTold(await testWebhook(id)))}
        >
          Send a test
        </button>
        <button ref={editButton} type="button" class="quiet" onClick={() => setEdited(true)}>
          Edit
        </button>
        <button
          type="button"
          class="quiet"
          disabled={isBusy}
          onClick={() =>
            act(async () => {
              await updateWebhook(id, { enabled: !enabled }, revision);
              return enabled ? 'It is off: no new events are sent to it.' : 'It is on.';
            })
          }
        >
          {enabled ? 'Turn it off' : 'Turn it on'}
        </button>
        <Confirm
          label="New secret"
          says={`${toShown(name, 100)} gets a new secret. Events are signed with both for a day: give it to the receiver meanwhile.`}
          act={() => rotateWebhook(id)}
          onDone={rotated => setSecret(rotated.secret)}
        />
        <Confirm
          label="Delete"
          says={`${toShown(name, 100)} gets no more events, and those that wait for it are not sent.`}
          act={() => deleteWebhook(id)}
          onDone={onDeleted}
        />
      </div>
      {isEdited ? (
        <EditWebhook
          webhook={webhook}
          onCancel={() => {
            setEdited(false);
            editButton.current?.focus();
          }}
          onSaved={() => {
            setEdited(false);
            tell('It is saved.');
          }}
        />
      ) : null}
    </>
  );
}

/** The outcome of a test. */
function toTold({ delivered, status, problem }: WebhookTest): string {
  if (delivered) return `The test was delivered: it answered ${status}.`;
  return `The test was not delivered: ${toShown(problem ?? 'nobody answered', 300)}.`;
}
