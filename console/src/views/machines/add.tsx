/** A machine gets a name here, and the command by which it comes. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { enrolConnector, type Enrolled } from '../../api/connectors.ts';
import { Field, messageFor } from '../../parts/field.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Problem } from '../../parts/states.tsx';

export function AddMachine({ onEnrolled }: { onEnrolled: (enrolled: Enrolled) => void }) {
  const [name, setName] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [thrown, setThrown] = useState<unknown>();
  async function add(): Promise<void> {
    setBusy(true);
    setThrown(undefined);
    try {
      onEnrolled(await enrolConnector(name.trim()));
    } catch (problem) {
      setThrown(problem);
      setBusy(false);
    }
  }
  return (
    <>
      <Heading back={['/machines', 'All machines']}>Add a machine</Heading>
      <p>You get a command to run there. What the machine runs, its mcp.json says.</p>
      <form
        class="form"
        autocomplete="off"
        onSubmit={event => {
          event.preventDefault();
          void add();
        }}
      >
        <Field
          label="Name"
          id="machine-name"
          wrong={messageFor(thrown, 'name')}
          hint="What people call it, as build-box"
        >
          {about => (
            <input
              {...about}
              required
              maxLength={63}
              spellcheck={false}
              value={name}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        </Field>
        {thrown === undefined ? null : <Problem thrown={thrown} />}
        <p class="actions">
          <button type="submit" disabled={isBusy}>
            Add it
          </button>
          <Link class="button quiet" href="/machines">
            Cancel
          </Link>
        </p>
      </form>
    </>
  );
}
