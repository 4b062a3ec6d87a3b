/** All fields of a row in plain words, in a dialog that the URL opens. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { AuditEvent } from '../../generated/types.gen.ts';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { toWhole } from '../../parts/time.tsx';
import { toWhyPath } from './search.ts';
import { toDeed, toEnding, toField, toText } from './words.ts';

const GONE = 'somebody whose name is no longer known';

/** Longer values are cut; the export has them whole. */
const MAX_CHARS = 20_000;

interface RowDetailsProps {
  event: AuditEvent;
  /** Whether the API explains why a call was refused. */
  explains: boolean;
  onClose(): void;
}

export function RowDetails({ event, explains, onClose }: RowDetailsProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // Focus the heading, not the only button at the end: a long row is read from its start.
    heading.current?.focus();
  }, [event.id]);
  const { principal, token, subject, chunk } = event;
  return (
    <dialog ref={dialog} class="details" aria-labelledby="details" onClose={onClose}>
      <h2 ref={heading} id="details" tabIndex={-1}>
        What happened
      </h2>
      <dl>
        <Field name="When">{toWhole(event.at)}</Field>
        <Field name="Who">
          <Named name={event.principal_name ?? GONE} id={principal} />
        </Field>
        <Field name="With the token">
          <Named name={event.token_name} id={token} />
        </Field>
        <Field name="Did">
          {toDeed(event.action)} <code>{toShown(event.action)}</code>
        </Field>
        <Field name="To what">
          <Named name={event.subject_name} id={subject} />
        </Field>
        <Field name="How it ended">
          {toEnding(event)} {event.code === null ? null : <code>{toShown(event.code)}</code>}
        </Field>
        {Object.entries(event.detail).map(([name, value]) => (
          <Field key={name} name={toShown(toField(name))}>
            <Value text={toText(value)} />
          </Field>
        ))}
        <Field name="Kept as">
          number {event.seq} of {chunk === undefined ? 'the chain' : 'a chunk of the chain'}{' '}
          <code>{toShown(event.shard)}</code>
        </Field>
        {chunk === undefined ? null : <Field name="Id of the chunk">{chunk}</Field>}
        <Field name="Id of the row">{event.id}</Field>
        <Field name={chunk === undefined ? 'Hash of the row' : 'Hash of the chunk'}>
          <code>{event.hash}</code>
        </Field>
        <Field name="Hash of the row before">
          <code>{event.previous_hash}</code>
        </Field>
      </dl>
      <p class="actions">
        {explains && event.action === 'tool.call' ? (
          <Link class="button" href={toWhyPath(event)}>
            Why may they, or not?
          </Link>
        ) : null}
        <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  );
}

const Field = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
);

const Named = ({ name, id }: { name: string | null; id: string }) => (
  <>
    {name === null ? null : <Foreign text={name} />}
    {name === id ? null : (
      <>
        {' '}
        <code>{toShown(id)}</code>
      </>
    )}
  </>
);

const Value = ({ text }: { text: string }) =>
  text.length <= 120 && !text.includes('\n') ? (
    <Foreign text={text} />
  ) : (
    <pre tabIndex={0}>{toShown(text, MAX_CHARS)}</pre>
  );
