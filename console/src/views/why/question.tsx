/** The form of the question: which principal, which token, and which tool of which server. */
import { useQuery } from '@tanstack/preact-query';
import { useId } from 'preact/hooks';
import { findOnlyPrincipal } from '../../api/people.ts';
import { principalsNamed } from '../../api/suggestions.ts';
import { tokensOf } from '../../api/tokens.ts';
import { useDraft } from '../../parts/draft.ts';
import { toShown } from '../../parts/foreign.tsx';
import { ServerAndTool } from '../../parts/server-and-tool.tsx';
import { Problem } from '../../parts/states.tsx';
import { Suggest } from '../../parts/suggest.tsx';
import { useAct } from '../../parts/use-act.ts';

/** As in the URL: ids of principal and token, names of server and tool; empty where not chosen. */
export interface Question {
  principal: string;
  token: string;
  server: string;
  tool: string;
}

interface FormProps {
  asked: Question;
  /** Name of the principal; undefined while it is loading. */
  name: string | undefined;
  onAsk(question: Question): void;
}

export function QuestionForm({ asked, name, onAsk }: FormProps) {
  const [who, setWho] = useDraft(name);
  const [token, setToken] = useDraft(asked.token);
  const [server, setServer] = useDraft(asked.server);
  const [tool, setTool] = useDraft(asked.tool);
  const { isBusy, thrown, run, place } = useAct<HTMLFormElement>();
  const principals = useQuery(principalsNamed(who)).data?.principals ?? [];
  const [known, other] = principals.filter(each => each.name === who);
  const isUnchanged = who === name && asked.principal !== '';
  // Several may have one name.
  const id = isUnchanged ? asked.principal : known && !other ? known.id : '';
  async function ask(): Promise<void> {
    const principal = id === '' ? (await findOnlyPrincipal(who)).id : id;
    onAsk({ principal, token, server, tool });
  }
  return (
    <form
      ref={place}
      class="question"
      aria-label="Question"
      // The question that is asked then replaces what is typed.
      inert={isBusy}
      onSubmit={event => {
        event.preventDefault();
        run(ask);
      }}
    >
      <Suggest
        label="Who"
        value={who}
        offered={principals.map(each => each.name)}
        required
        onValue={value => {
          setWho(value);
          setToken('');
        }}
      />
      <TokenChoice principal={id} value={token} onValue={setToken} />
      <ServerAndTool server={server} tool={tool} onServer={setServer} onTool={setTool} />
      <p class="field">
        <button type="submit">Explain</button>
      </p>
      {thrown === undefined ? null : <Problem thrown={thrown} />}
    </form>
  );
}

interface TokenChoiceProps {
  principal: string;
  value: string;
  onValue(id: string): void;
}

function TokenChoice({ principal, value, onValue }: TokenChoiceProps) {
  const id = useId();
  const tokens = useQuery(tokensOf(principal)).data?.tokens ?? [];
  const isListed = value === '' || tokens.some(each => each.id === value);
  return (
    <p class="field">
      <label for={id}>With</label>
      <select id={id} value={value} onChange={({ currentTarget: at }) => onValue(at.value)}>
        <option value="">a token without limits</option>
        {tokens.map(each => (
          <option key={each.id} value={each.id}>
            the token {toShown(each.name)}
          </option>
        ))}
        {isListed ? null : <option value={value}>the token {toShown(value)}</option>}
      </select>
    </p>
  );
}
