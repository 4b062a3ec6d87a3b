/** A server's requests during a call: a form to fill in, or a page to open. All texts are the server's. */
import { useState } from 'preact/hooks';
import type { Answers, Asked, Question } from '../../api/tools.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { FieldInput } from './field-input.tsx';
import { toArguments, toFields, type Field } from './fields.ts';
import { useFocus } from '../../parts/use-focus.ts';

interface QuestionsProps {
  /** Name of the requesting server. */
  server: string;
  asked: Asked;
  /** An answer is being sent. */
  isBusy: boolean;
  onAnswer: (answers: Answers) => void;
}

const DECLINED = '{"action":"decline"}';
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
const fieldsOf = ({ params }: Question): readonly Field[] =>
  toFields(params['requestedSchema']) ?? [];

export function Questions({ server, asked: { questions }, isBusy, onAnswer }: QuestionsProps) {
  const all = Object.entries(questions);
  const heading = useFocus<HTMLHeadingElement>();
  const [typed, setTyped] = useState<Record<string, Record<string, string>>>(() =>
    Object.fromEntries(
      all.map(([key, question]) => [
        key,
        Object.fromEntries(fieldsOf(question).map(field => [field.name, field.initial])),
      ]),
    ),
  );
  const [problem, setProblem] = useState('');

  function accept(): void {
    const answers = new Map<string, string>();
    for (const [key, question] of all) {
      const made = toArguments(fieldsOf(question), typed[key] ?? {});
      if ('problem' in made) return setProblem(`${made.field}: ${made.problem}`);
      const isForm = question.params['mode'] !== 'url';
      answers.set(key, `{"action":"accept"${isForm ? `,"content":${made.args}` : ''}}`);
    }
    onAnswer(answers);
  }

  return (
    <form
      class="questions"
      aria-label={`What ${server} asks`}
      inert={isBusy}
      onSubmit={event => {
        event.preventDefault();
        accept();
      }}
    >
      <h3 ref={heading} tabIndex={-1}>
        {server} asks
      </h3>
      {all.map(([key, question]) => (
        <One
          key={key}
          question={question}
          typed={typed[key] ?? {}}
          onTyped={values => setTyped({ ...typed, [key]: values })}
        />
      ))}
      {problem === '' ? null : (
        <p class="problem" role="alert">
          <Foreign text={problem} max={500} />
        </p>
      )}
      <p class="actions">
        <button type="submit">Answer and continue</button>
        <button
          type="button"
          class="quiet"
          onClick={() => onAnswer(new Map(all.map(([key]) => [key, DECLINED])))}
        >
          Say no
        </button>
      </p>
    </form>
  );
}

interface OneProps {
  question: Question;
  typed: Readonly<Record<string, string>>;
  onTyped: (values: Record<string, string>) => void;
}

function One({ question, typed, onTyped }: OneProps) {
  const { params } = question;
  return (
    <>
      <p class="foreign">
        <Foreign text={textOf(params['message'])} />
      </p>
      {params['mode'] === 'url' ? <Page url={textOf(params['url'])} /> : null}
      {fieldsOf(question).map(field => (
        <FieldInput
          key={field.name}
          field={field}
          value={typed[field.name] ?? ''}
          onValue={value => onTyped({ ...typed, [field.name]: value })}
        />
      ))}
    </>
  );
}

/** A page that a server wants opened: shows its host, and opens only web pages. */
function Page({ url }: { url: string }) {
  const place = URL.canParse(url) ? new URL(url) : undefined;
  const isWeb = place?.protocol === 'https:' || place?.protocol === 'http:';
  return (
    <p class="foreign">
      {isWeb ? (
        <a href={place.href} target="_blank" rel="noopener noreferrer">
          Open a page of <bdi>{place.host}</bdi>
        </a>
      ) : (
        'It names no page that can be opened.'
      )}
    </p>
  );
}
