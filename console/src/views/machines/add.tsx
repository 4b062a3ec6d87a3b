/** Adds a machine: the user enters its name, and gets a command to run there. */
import { useState } from 'preact/hooks';
import { enrolConnector, type Enrolled } from '../../api/connectors.ts';
import { messageFor, Text } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Heading } from '../../parts/heading.tsx';
import { useAct } from '../../parts/use-act.ts';

export function AddMachine({ onEnrolled }: { onEnrolled: (enrolled: Enrolled) => void }) {
  const [name, setName] = useState('');
  const { isBusy, thrown, run } = useAct();
  const add = async () => onEnrolled(await enrolConnector(name.trim()));
  return (
    <>
      <Heading back={['/machines', 'All machines']}>Add a machine</Heading>
      <p>You get a command to run there. The machine runs the servers of its mcp.json.</p>
      <Form
        onSend={() => run(add)}
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
