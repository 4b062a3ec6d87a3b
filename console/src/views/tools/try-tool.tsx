/** One tool: what it says of itself, and a form to call it. What was typed stays whatever comes back. */
import { useRef, useState } from 'preact/hooks';
import { callTool, type ListedTool } from '../../api/tools.ts';
import { ApiProblem } from '../../api/request.ts';
import type { ToolResult } from '../../generated/types.gen.ts';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Problem } from '../../parts/states.tsx';
import { toArguments, toFields, type Field } from './fields.ts';
import { Result } from './result.tsx';

/** Where a schema makes no form: all arguments as JSON. */
const WHOLE: Field = {
  name: 'arguments',
  kind: 'json',
  isRequired: true,
  description: 'All arguments, as JSON',
  options: [],
  initial: '{}',
};

/** Of a name that a server gave, as many as are shown. */
const MAX_NAME_CHARS = 100;

type Ending = { result: ToolResult } | { thrown: unknown };

export function TryTool({ tool: { name, description, schema } }: { tool: ListedTool }) {
  const own = toFields(schema);
  const fields = own ?? [WHOLE];
  const [typed, setTyped] = useState<Record<string, string>>(() =>
    Object.fromEntries(fields.map(field => [field.name, field.initial])),
  );
  const [problem, setProblem] = useState('');
  const [ending, setEnding] = useState<Ending>();
  const running = useRef(new AbortController());
  const [isRunning, setRunning] = useState(false);

  async function call(): Promise<void> {
    const made = toArguments(fields, typed);
    if ('problem' in made) return setProblem(`${made.field}: ${made.problem}`);
    setProblem('');
    setEnding(undefined);
    setRunning(true);
    running.current = new AbortController();
    const args = own ? made.args : (made.args['arguments'] as Record<string, unknown>);
    try {
      setEnding({ result: await callTool(name, args, running.current.signal) });
    } catch (thrown) {
      if (!running.current.signal.aborted) setEnding({ thrown });
    } finally {
      setRunning(false);
    }
  }

  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      <p class="foreign">
        <Foreign text={description} />
      </p>
      <form
        onSubmit={event => {
          event.preventDefault();
          void call();
        }}
      >
        {fields.map(field => (
          <Input
            key={field.name}
            field={field}
            value={typed[field.name] ?? ''}
            onValue={value => setTyped({ ...typed, [field.name]: value })}
          />
        ))}
        {problem === '' ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <p class="actions">
          <button type="submit" disabled={isRunning}>
            Call it
          </button>
          {isRunning ? (
            <button type="button" class="quiet" onClick={() => running.current?.abort()}>
              Stop waiting
            </button>
          ) : null}
        </p>
      </form>
      <div role="status">{isRunning ? 'The tool works…' : ''}</div>
      {ending && 'result' in ending ? <Result result={ending.result} /> : null}
      {ending && 'thrown' in ending ? <Failure thrown={ending.thrown} /> : null}
    </section>
  );
}

/** Who lacks an account is led to where it is connected. */
function Failure({ thrown }: { thrown: unknown }) {
  const url = thrown instanceof ApiProblem ? thrown.connectUrl : undefined;
  return (
    <>
      <Problem thrown={thrown} />
      {url === undefined ? null : (
        <p>
          <a class="button" href={url}>
            Connect an account
          </a>
        </p>
      )}
    </>
  );
}

interface InputProps {
  field: Field;
  value: string;
  onValue: (value: string) => void;
}

function Input({ field, value, onValue }: InputProps) {
  const { name, kind, isRequired, description, options } = field;
  const id = `field-${name}`;
  const common = { id, name, required: isRequired, 'aria-describedby': `${id}-about` };
  return (
    <>
      <label for={id}>
        <Foreign text={name} max={MAX_NAME_CHARS} />
        {isRequired ? '' : ' (may be empty)'}
      </label>
      {kind === 'choice' || kind === 'flag' ? (
        <select
          {...common}
          value={value}
          onChange={({ currentTarget }) => onValue(currentTarget.value)}
        >
          {isRequired && kind === 'flag' ? null : <option value="" />}
          {(kind === 'flag' ? ['false', 'true'] : options).map(option => (
            <option key={option} value={option}>
              {toShown(option, MAX_NAME_CHARS)}
            </option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea
          {...common}
          rows={4}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          inputMode={kind === 'number' ? 'decimal' : undefined}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
      <small id={`${id}-about`} class="foreign">
        <Foreign text={description} max={500} />
      </small>
    </>
  );
}
