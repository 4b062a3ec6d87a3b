/** Creates a link that signs a principal in with a browser once. It is shown once, and only kept in this component's memory. */
import { useQueryClient } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { createInvitation } from '../../api/sign-in.ts';
import type { IssuedInvitation, Principal } from '../../generated/types.gen.ts';
import { messageFor, Select } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { toShown } from '../../parts/foreign.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { toWhole } from '../../parts/time.tsx';
import { useAct } from '../../parts/use-act.ts';

interface InviteProps {
  /** Text of the button that opens the form. */
  label: string;
  /** Returns the principal to invite; may create it, once. */
  findWho: () => Promise<Pick<Principal, 'id'>>;
  /** Fields to choose the principal, if needed. @param thrown the error of the last attempt */
  children?: (thrown: unknown) => ComponentChildren;
  onInvited?: () => void;
}

const SPANS = [
  ['3600', 'In an hour'],
  ['86400', 'In a day'],
  ['259200', 'In three days'],
  ['604800', 'In a week'],
] as const;

type Issued = Pick<IssuedInvitation, 'path' | 'principal_name' | 'expires_at'>;

export function Invite({ label, findWho, children, onInvited }: InviteProps) {
  const cache = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [span, setSpan] = useState<(typeof SPANS)[number][0]>('86400');
  const [issued, setIssued] = useState<Issued>();
  const { isBusy, thrown, run } = useAct();
  const button = useRef<HTMLButtonElement>(null);
  const invite = async () => {
    const { id } = await findWho();
    const made = await createInvitation({ principal: id, valid_seconds: Number(span) });
    setIssued({
      path: made.path,
      principal_name: made.principal_name,
      expires_at: made.expires_at,
    });
    setOpen(false);
    onInvited?.();
    void cache.invalidateQueries({ queryKey: ['invitations'] });
  };
  return (
    <>
      {issued ? (
        <ShownOnce
          key={issued.path}
          label={`Link for ${toShown(issued.principal_name, 100)}`}
          value={location.origin + issued.path}
          says={`Whoever opens it first is signed in with that browser as ${toShown(issued.principal_name, 100)}. It works once, until ${toWhole(issued.expires_at)}.`}
          onDone={() => {
            setIssued(undefined);
            button.current?.focus();
          }}
        />
      ) : null}
      <p class="actions">
        <button
          ref={button}
          type="button"
          class="quiet"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {label}
        </button>
      </p>
      {isOpen ? (
        <Form
          label={label}
          onSend={() => run(invite)}
          isBusy={isBusy}
          thrown={thrown}
          verb="Make the link"
          cancel={() => {
            setOpen(false);
            button.current?.focus();
          }}
        >
          {children?.(thrown)}
          <Select
            label="The link ends"
            value={span}
            options={SPANS}
            wrong={messageFor(thrown, 'valid_seconds')}
            onValue={setSpan}
          />
        </Form>
      ) : null}
    </>
  );
}
