/** Adds a machine: the user enters its name, and gets a command to run there. */
import { useState } from 'preact/hooks';
import { enrolConnector, type Enrolled } from '../../api/connectors.ts';
import { messageFor, Text } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Heading } from '../../parts/heading.tsx';

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
      <p>You get a command to run there. The machine runs the servers of its mcp.json.</p>
      <Form
        onSend={() => void add()}
        isBusy={isBusy}
        thrown={thrown}
        verb="Add it"
        cancel="/machines"
      >
        <Text
          label="Name"
          id="machine-name"
          wrong={messageFor(thrown, 'name')}
          hint="What people call it, as build-box"
          isRequired
          maxLength={63}
          value={name}
          onValue={setName}
          isCode
        />
      </Form>
    </>
  );
}
