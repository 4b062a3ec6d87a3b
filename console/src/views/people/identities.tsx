/** The identities of people at a provider. An identity can be added before the person first signs in. */
import { useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { findOnlyPrincipal } from '../../api/people.ts';
import { createIdentity, deleteIdentity, identitiesQuery } from '../../api/sign-in-providers.ts';
import type { SignInProvider } from '../../generated/types.gen.ts';
import { messageFor, Text } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Time } from '../../parts/time.tsx';
import { useAct } from '../../parts/use-act.ts';
import { toAddress } from './addresses.ts';
import { Records } from './records.tsx';
import { WhoChoice } from './who-choice.tsx';

export const Identities = ({ provider }: { provider: SignInProvider }) => (
  <section>
    <h2>Who people are there</h2>
    <NameSomebody provider={provider} />
    <Records
      label="Identities"
      query={identitiesQuery({ provider: provider.id })}
      itemsOf={page => page.identities}
      none="Nobody signed in by it or was named yet."
      columns={['Name there', 'Subject', 'Signs in as', 'Groups', 'Signed in']}
      cells={({ name, email, subject, principal, groups, signed_in_at: at }) => (
        <>
          <th scope="row">
            <Foreign text={name} max={100} />
            {email === null ? null : (
              <span class="hint">
                <Foreign text={email} max={100} />
              </span>
            )}
          </th>
          <td class="limits">
            <Foreign text={subject} max={100} />
          </td>
          <td>
            <Link href={toAddress(principal)}>its principal</Link>
          </td>
          <td>{groups.join(' ')}</td>
          <td>{at === null ? 'never' : <Time at={at} />}</td>
        </>
      )}
      verb="Remove"
      says={({ name }) =>
        `${toShown(name, 100)} signs in as this principal no more. Browsers and programs that came in by it are out at once; the principal stays.`
      }
      end={deleteIdentity}
      ended={({ name }) => `${toShown(name, 100)} is removed.`}
    />
  </section>
);

function NameSomebody({ provider }: { provider: SignInProvider }) {
  const cache = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [subject, setSubject] = useState('');
  const [who, setWho] = useState('');
  const { isBusy, thrown, run } = useAct();
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const add = async () => {
    const { id: principal } = await findOnlyPrincipal(who.trim());
    await createIdentity({ provider: provider.id, subject: subject.trim(), principal });
    setSubject('');
    setWho('');
    close();
    await cache.invalidateQueries({ queryKey: ['identities'] });
  };
  return (
    <>
      <p class="actions">
        <button
          ref={button}
          type="button"
          class="quiet"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Name somebody
        </button>
      </p>
      {isOpen ? (
        <Form
          label="Name somebody"
          onSend={() => run(add)}
          isBusy={isBusy}
          thrown={thrown}
          verb="Add it"
          cancel={close}
        >
          <Text
            label="Subject"
            wrong={messageFor(thrown, 'subject')}
            hint={
              provider.kind === 'github'
                ? 'The number of the account'
                : 'The sub of the person at the provider'
            }
            isRequired
            maxLength={500}
            value={subject}
            onValue={setSubject}
            isCode
          />
          <WhoChoice label="Signs in as, by name or id" value={who} onValue={setWho} />
        </Form>
      ) : null}
    </>
  );
}
