/** Adds or edits a webhook. What was typed stays, whatever the gateway responds; the address is not shown again. */
import { useState } from 'preact/hooks';
import {
  createWebhook,
  keyOf,
  readWebhook,
  updateWebhook,
  WEBHOOKS,
  type WithSecret,
} from '../../api/webhooks.ts';
import type { Webhook } from '../../generated/types.gen.ts';
import { Amount, messageFor, Select, Text } from '../../parts/field.tsx';
import { Form, type Sending } from '../../parts/form.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useEdit } from '../../parts/use-edit.tsx';
import { NEW, toCreate, toUpdate, toValues, type WebhookValues } from './webhook-values.ts';
import { EVENT_TYPES, EVENT_WORDS, WEBHOOKS_PATH } from './webhook-words.ts';
import { useFocus } from '../../parts/use-focus.ts';

const FORMATS = [
  ['portico', 'A program, by Standard Webhooks'],
  ['slack', 'A channel of Slack, or of a compatible service'],
] as const;

export function AddWebhook({ onMade }: { onMade: (made: WithSecret) => void }) {
  const [values, setValues] = useState(NEW);
  const { isBusy, thrown, run } = useAct();
  return (
    <WebhookForm
      title="Add a webhook"
      values={values}
      onValues={setValues}
      onSend={() => run(async () => onMade(await createWebhook(toCreate(values))))}
      isBusy={isBusy}
      thrown={thrown}
      verb="Add it"
      cancel={WEBHOOKS_PATH}
    />
  );
}

interface EditProps {
  webhook: Webhook;
  onCancel: () => void;
  onSaved: () => void;
}

export function EditWebhook({ webhook, onCancel, onSaved }: EditProps) {
  const { form } = useEdit({
    noun: 'webhook',
    record: webhook,
    toValues,
    read: () => readWebhook(webhook.id),
    save: (before, typed) =>
      updateWebhook(before.id, toUpdate(toValues(before), typed), before.revision),
    shownAt: keyOf(webhook.id),
    stale: [WEBHOOKS],
    cancel: onCancel,
    onSaved,
  });
  return <WebhookForm {...form} title="Edit it" isKnown />;
}

interface FormProps extends Sending {
  title: string;
  /** The webhook exists: an empty address keeps the current one. */
  isKnown?: boolean;
  values: WebhookValues;
  onValues: (values: WebhookValues) => void;
}

function WebhookForm({ title, isKnown = false, values, onValues, ...sending }: FormProps) {
  const { thrown } = sending;
  const heading = useFocus<HTMLHeadingElement>();
  const set = (more: Partial<WebhookValues>) => onValues({ ...values, ...more });
  const toggle = (type: (typeof EVENT_TYPES)[number]) =>
    set({ events: EVENT_TYPES.filter(each => values.events.includes(each) !== (each === type)) });
  const wrongEvents = messageFor(thrown, 'events');
  return (
    <Form {...sending} label={title}>
      <h3 ref={heading} tabIndex={-1}>
        {title}
      </h3>
      <Text
        label="Name"
        wrong={messageFor(thrown, 'name')}
        hint="What people call it, as on-call"
        isCode
        isRequired
        maxLength={63}
        value={values.name}
        onValue={name => set({ name })}
      />
      <Select
        label="Receiver"
        value={values.format}
        options={FORMATS}
        onValue={format => set({ format })}
      />
      <Text
        label={isKnown ? 'New address' : 'Address'}
        wrong={messageFor(thrown, 'url')}
        hint={
          isKnown
            ? 'Empty: it stays. Waiting events are sent to the new one, signed with the same secret'
            : 'Where events are sent. It may be the only credential of a receiver, so it is sealed and not shown again'
        }
        isCode
        isRequired={!isKnown}
        maxLength={2_000}
        value={values.url}
        onValue={url => set({ url })}
      />
      <fieldset class="choices">
        <legend>When</legend>
        {EVENT_TYPES.map(type => (
          <label key={type} class="check">
            <input
              type="checkbox"
              checked={values.events.includes(type)}
              onChange={() => toggle(type)}
            />
            {EVENT_WORDS[type]}
          </label>
        ))}
        {wrongEvents ? <p class="wrong">{wrongEvents}</p> : null}
      </fieldset>
      {values.events.includes('denials.rate') ? (
        <Amount
          label="Report more refused calls than"
          wrong={messageFor(thrown, 'denials_over')}
          hint="Of one person or program, within ten minutes"
          max={1_000_000}
          value={values.denials_over}
          onValue={over => set({ denials_over: over })}
        />
      ) : null}
    </Form>
  );
}
