/** Adds a secret, or replaces its value. What was typed stays, whatever the gateway responds. */
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { ApiProblem } from '../../api/request.ts';
import { putSecret, SECRETS, secretsQuery } from '../../api/secrets.ts';
import type { Secret } from '../../generated/types.gen.ts';
import { messageFor, Text } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Heading } from '../../parts/heading.tsx';

interface PutProps {
  /** Absent: a new secret. */
  replaced?: Secret;
  onStored: (name: string) => void;
}

/** The API's limit. */
const MAX_VALUE_CHARS = 8_192;
const linesOf = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map(line => line.trim())
    .filter(line => line !== '');

export function PutSecret({ replaced, onStored }: PutProps) {
  const cache = useQueryClient();
  // The edit applies to the secret as it was when the form opened.
  const [base, setBase] = useState(replaced);
  const [name, setName] = useState(replaced?.name ?? '');
  const [value, setValue] = useState('');
  const [origins, setOrigins] = useState(replaced?.origins.join('\n') ?? '');
  const [isBusy, setBusy] = useState(false);
  const [thrown, setThrown] = useState<unknown>();
  /** Somebody else changed or created it meanwhile. */
  const [isStale, setStale] = useState(false);
  const isTaken = isStale && replaced === undefined;

  async function store(): Promise<void> {
    setBusy(true);
    setThrown(undefined);
    setStale(false);
    try {
      const body = { value, origins: linesOf(origins) };
      const stored = await putSecret(name.trim(), body, base?.revision);
      const rest = (all: readonly Secret[]) => all.filter(each => each.name !== stored.name);
      cache.setQueryData<Secret[]>(
        SECRETS,
        all => all && [...rest(all), stored].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      );
      onStored(stored.name);
    } catch (problem) {
      await explain(problem).catch(setThrown);
    } finally {
      setBusy(false);
    }
  }

  async function explain(problem: unknown): Promise<void> {
    if (!(problem instanceof ApiProblem) || problem.status !== 412) throw problem;
    const secrets = await cache.fetchQuery({ ...secretsQuery(), staleTime: 0 });
    const now = secrets.find(each => each.name === base?.name);
    if (base && !now) throw new Error('It was deleted meanwhile. What you typed is kept.');
    setBase(now);
    setStale(true);
  }

  return (
    <>
      <Heading back={['/secrets', 'All secrets']}>
        {replaced ? `Replace the value of ${replaced.name}` : 'Add a secret'}
      </Heading>
      <Form
        onSend={() => void store()}
        isBusy={isBusy}
        thrown={thrown}
        verb={base && isStale ? 'Store it anyway' : 'Store it'}
        cancel="/secrets"
      >
        {replaced ? null : (
          <Text
            label="Name"
            id="secret-name"
            wrong={isTaken ? 'There is a secret of this name already' : messageFor(thrown, 'name')}
            hint="Capital letters, digits and _, as HUB_TOKEN"
            isRequired
            maxLength={64}
            value={name}
            onValue={setName}
            isCode
          />
        )}
        <Text
          label={replaced ? 'New value' : 'Value'}
          id="secret-value"
          wrong={messageFor(thrown, 'value')}
          hint="Stored sealed and never shown again"
          type="password"
          isRequired
          maxLength={MAX_VALUE_CHARS}
          value={value}
          onValue={setValue}
          isCode
        />
        <Text
          label="Origins it may be sent to"
          id="secret-origins"
          wrong={messageFor(thrown, 'origins')}
          hint="As https://mcp.example.com, each on a line of its own"
          rows={3}
          isRequired
          value={origins}
          onValue={setOrigins}
          isCode
        />
        {base && isStale ? <Meanwhile now={base} /> : null}
      </Form>
    </>
  );
}

const Meanwhile = ({ now }: { now: Secret }) => (
  <p class="problem" role="alert">
    Somebody else stored another value meanwhile, for {now.origins.join(', ')}. What you typed is
    kept; nothing is stored yet.
  </p>
);
