/** One tool: its description, and a form to call it. What was typed stays, whatever comes back. */
import { useRef, useState } from 'preact/hooks';
import { rawMembers } from '../../../../src/shared/json/json-spans.ts';
import { callTool, type Answers, type Asked, type ListedTool, type News } from '../../api/tools.ts';
import { ApiProblem } from '../../api/request.ts';
import type { ToolResult } from '../../generated/types.gen.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Problem } from '../../parts/states.tsx';
import { FieldInput } from './field-input.tsx';
import { toArguments, toFields, toTyped, type Field } from './fields.ts';
import { Questions } from './questions.tsx';
import { Result } from './result.tsx';
import { addNews, Working } from './working.tsx';
import { useFocus } from '../../parts/use-focus.ts';
import { useHeldFocus } from '../../parts/use-held-focus.ts';

/** All arguments as JSON, also those that no form can express, like an empty text. */
const WHOLE: Field = {
  name: 'arguments',
  kind: 'json',
  isRequired: true,
  description: 'All arguments, as JSON',
  options: [],
  initial: '{}',
};

/** The form's valid fields as JSON. */
function toWhole(fields: readonly Field[], typed: Readonly<Record<string, string>>): string {
  const valid = fields.filter(field => 'args' in toArguments([field], typed));
  const made = toArguments(valid, typed);
  return 'args' in made ? made.args : WHOLE.initial;
}

type Ending = { result: ToolResult } | { thrown: unknown };

/** Errors with which an answer was refused before its server saw it, so that the call still waits for it. */
const STILL_WAITS = new Set([
  'unauthorized',
  'rate_limited',
  'budget_reached',
  'busy',
  'too_many_calls',
]);
const isOver = (thrown: unknown) => thrown instanceof ApiProblem && !STILL_WAITS.has(thrown.code);

export function TryTool({ tool: { name, description, schema } }: { tool: ListedTool }) {
  const form = toFields(schema);
  const [filled, setFilled] = useState<Record<string, string>>(() =>
    Object.fromEntries((form ?? []).map(field => [field.name, field.initial])),
  );
  /** JSON that was written instead of the form. */
  const [written, setWritten] = useState<string>();
  const own = written === undefined ? form : undefined;
  const fields = own ?? [WHOLE];
  const typed = own ? filled : { [WHOLE.name]: written ?? WHOLE.initial };
  const onValue = (field: string, value: string) =>
    own ? setFilled({ ...filled, [field]: value }) : setWritten(value);
  const [problem, setProblem] = useState('');
  /** What its server asks, until that was answered. */
  const [asked, setAsked] = useState<Asked>();
  const [ending, setEnding] = useState<Ending>();
  const [news, setNews] = useState<readonly News[]>([]);
  const running = useRef(new AbortController());
  const called = useRef('{}');
  const rounds = useRef(0);
  const [isRunning, setRunning] = useState(false);
  // Focus moves here after the choice, since the list may be long.
  const heading = useFocus<HTMLHeadingElement>();
  const place = useHeldFocus<HTMLElement>(isRunning, heading);

  function changeForm(): void {
    setProblem('');
    const shown = toWhole(form ?? [], filled);
    if (written === undefined) return setWritten(shown);
    if (written !== shown) {
      const read = toTyped(form ?? [], written.trim() || WHOLE.initial);
      if ('problem' in read) return setProblem(`${read.field}: ${read.problem}; change it first`);
      setFilled(read.typed);
    }
    setWritten(undefined);
  }

  function begin(): void {
    const made = toArguments(fields, typed);
    if ('problem' in made) return setProblem(`${made.field}: ${made.problem}`);
    setProblem('');
    setNews([]);
    setAsked(undefined);
    called.current = own ? made.args : (rawMembers(made.args).get('arguments') ?? '{}');
    void run();
  }

  async function run(answered?: { state: unknown; answers: Answers }) {
    setEnding(undefined);
    setRunning(true);
    running.current = new AbortController();
    const { signal } = running.current;
    const round = { name, args: called.current, ...(answered && { answered }) };
    try {
      const got = await callTool(round, one => setNews(all => addNews(all, one)), signal);
      rounds.current += 1;
      setAsked('asked' in got ? got.asked : undefined);
      if ('result' in got) setEnding(got);
    } catch (thrown) {
      if (signal.aborted || isOver(thrown)) setAsked(undefined);
      if (!signal.aborted) setEnding({ thrown });
    } finally {
      setRunning(false);
    }
  }

  return (
    <section ref={place} aria-label={name}>
      <h2 ref={heading} tabIndex={-1}>
        {name}
      </h2>
      <p class="foreign">
        <Foreign text={description} />
      </p>
      <form
        onSubmit={event => {
          event.preventDefault();
          begin();
        }}
      >
        {fields.map(field => (
          <FieldInput
            key={field.name}
            field={field}
            value={typed[field.name] ?? ''}
            onValue={value => onValue(field.name, value)}
          />
        ))}
        {problem === '' ? null : (
          <p class="problem" role="alert">
            <Foreign text={problem} max={500} />
          </p>
        )}
        <p class="actions">
          <button type="submit" disabled={isRunning}>
            Call it
          </button>
          {isRunning ? (
            <button type="button" class="quiet" onClick={() => running.current.abort()}>
              Stop it
            </button>
          ) : null}
          {form ? (
            <button type="button" class="quiet" onClick={changeForm}>
              {own ? 'Write it as JSON' : 'Back to the form'}
            </button>
          ) : null}
        </p>
      </form>
      <Working isRunning={isRunning} news={news} />
      {asked ? (
        <Questions
          key={rounds.current}
          server={name.split('.', 1)[0] ?? name}
          asked={asked}
          isBusy={isRunning}
          onAnswer={answers => void run({ state: asked.state, answers })}
        />
      ) : null}
      {ending && 'result' in ending ? <Result result={ending.result} /> : null}
      {ending && 'thrown' in ending ? <Failure thrown={ending.thrown} /> : null}
    </section>
  );
}

/** Links to the page where a missing account can be connected. */
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
