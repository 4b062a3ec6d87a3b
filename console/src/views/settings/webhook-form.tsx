/** A webhook is added. What was typed stays whatever the gateway answers; its address is not shown again. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { createWebhook, type WithSecret } from '../../api/webhooks.ts';
import { messageFor, Select, Text } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { useAct } from '../../parts/use-act.ts';
import { EVENT_TYPES, EVENT_WORDS, WEBHOOKS_PATH } from './webhook-words.ts';

const FORMATS = [
  ['portico', 'A program, by Standard Webhooks'],
  ['slack', 'A channel of Slack, or of what takes the same'],
] as const;

export function AddWebhook({ onMade }: { onMade: (made: WithSecret) => void }) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<(typeof FORMATS)[number][0]>('portico');
  const [events, setEvents] = useState(EVENT_TYPES);
  const { isBusy, thrown, run } = useAct();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const toggle = (type: (typeof EVENT_TYPES)[number]) =>
    setEvents(EVENT_TYPES.filter(each => events.includes(each) !== (each === type)));
  const add = async () =>
    onMade(await createWebhook({ name: name.trim(), url: url.trim(), format, events }));
  const wrongEvents = messageFor(thrown, 'events');
  return (
    <Form
      onSend={() => run(add)}
      isBusy={isBusy}
      thrown={thrown}
      verb="Add it"
      cancel={WEBHOOKS_PATH}
    >
      <h3 ref={heading} tabIndex={-1}>
        Add a webhook
      </h3>
      <Text
        label="Name"
        wrong={messageFor(thrown, 'name')}
        hint="What people call it, as on-call"
        isCode
        isRequired
        maxLength={63}
        value={name}
        onValue={setName}
      />
      <Select label="Who is told" value={format} options={FORMATS} onValue={setFormat} />
      <Text
        label="Address"
        wrong={messageFor(thrown, 'url')}
        hint="Where events are sent. It may be all that a receiver asks for, so it is sealed, and not shown again"
        isCode
        isRequired
        maxLength={2_000}
        value={url}
        onValue={setUrl}
      />
      <fieldset class="choices">
        <legend>When</legend>
        {EVENT_TYPES.map(type => (
          <label key={type} class="check">
            <input type="checkbox" checked={events.includes(type)} onChange={() => toggle(type)} />
            {EVENT_WORDS[type]}
          </label>
        ))}
        {wrongEvents ? <p class="wrong">{wrongEvents}</p> : null}
      </fieldset>
    </Form>
  );
}
