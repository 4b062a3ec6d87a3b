/** Registers an OAuth client that has no metadata document and does not register itself. */
import { useState } from 'preact/hooks';
import { createClient } from '../../api/oauth-clients.ts';
import type { IssuedOAuthClient } from '../../generated/types.gen.ts';
import { messageFor, Text } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useFocus } from '../../parts/use-focus.ts';

interface FormProps {
  /** Address of the list. */
  back: string;
  onMade: (client: IssuedOAuthClient) => void;
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '');

export function ProgramForm({ back, onMade }: FormProps) {
  const [name, setName] = useState('');
  const [redirects, setRedirects] = useState('');
  const [isPublic, setPublic] = useState(false);
  const { isBusy, thrown, run } = useAct();
  const heading = useFocus<HTMLHeadingElement>();
  const make = () =>
    run(async () => {
      const body = { name, redirect_uris: linesOf(redirects), public: isPublic };
      onMade(await createClient(body));
    });
  return (
    <Form onSend={make} isBusy={isBusy} thrown={thrown} verb="Add it" cancel={back}>
      <h3 ref={heading} tabIndex={-1}>
        Add a program
      </h3>
      <Text
        label="Name"
        id="program-name"
        wrong={messageFor(thrown, 'name')}
        hint="Shown to people when they are asked to allow it"
        isRequired
        maxLength={100}
        value={name}
        onValue={setName}
      />
      <Text
        label="Addresses it may send people back to"
        id="program-redirects"
        wrong={messageFor(thrown, 'redirect_uris')}
        hint="As https://reports.example.com/callback, each on a line of its own"
        rows={3}
        isRequired
        value={redirects}
        onValue={setRedirects}
        isCode
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isPublic}
          onChange={({ currentTarget }) => setPublic(currentTarget.checked)}
        />
        It cannot keep a secret, as a program on a desktop
      </label>
    </Form>
  );
}
