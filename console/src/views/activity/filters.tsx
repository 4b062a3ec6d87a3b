/** The filters of the activity; all are in the URL. */
import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { principalsNamed, serversNamed, toolsOf } from '../../api/suggestions.ts';
import { useDraft } from '../../parts/draft.ts';
import { Suggest } from '../../parts/suggest.tsx';
import { RANGES, type FilterName } from './search.ts';
import { OUTCOMES } from './words.ts';

interface FiltersProps {
  filters: URLSearchParams;
  /** Whether the API returns rows of others, and names to suggest. */
  seesAll: boolean;
  onFilter(name: FilterName, value: string): void;
}

const KINDS = [
  ['calls', 'Calls'],
  ['acts', 'Acts of administrators and people'],
] as const;
const OUTCOME_WORDS = Object.entries(OUTCOMES).map(([value, { word }]) => [value, word] as const);

export function Filters({ filters, seesAll, onFilter }: FiltersProps) {
  const of = (name: FilterName) => filters.get(name) ?? '';
  const range = of('range');
  return (
    <form
      class="activity-filters"
      role="search"
      aria-label="Activity"
      onSubmit={e => e.preventDefault()}
    >
      {seesAll ? (
        <Named
          label="Who"
          value={of('principal')}
          useOffered={usePrincipals}
          onValue={v => onFilter('principal', v)}
        />
      ) : null}
      <Named
        label="Server"
        value={of('server')}
        useOffered={seesAll ? useServers : useNothing}
        onValue={v => onFilter('server', v)}
      />
      <Named
        label="Tool, as server.tool"
        value={of('tool')}
        useOffered={seesAll ? useTools : useNothing}
        onValue={v => onFilter('tool', v)}
      />
      <Choice label="Kind" value={of('kind')} onValue={value => onFilter('kind', value)}>
        <Options all="Calls and acts" of={KINDS} />
      </Choice>
      <Choice label="How it ended" value={of('outcome')} onValue={v => onFilter('outcome', v)}>
        <Options all="In any way" of={OUTCOME_WORDS} />
      </Choice>
      <Choice label="When" value={range} onValue={value => onFilter('range', value)}>
        <Options
          all="At any time"
          of={[...Object.entries(RANGES).map(([key, { word }]) => [key, word] as const), OWN]}
        />
      </Choice>
      {range === OWN[0] ? (
        <>
          <Moment label="From" value={of('since')} onValue={v => onFilter('since', v)} />
          <Moment label="Before" value={of('until')} onValue={v => onFilter('until', v)} />
        </>
      ) : null}
    </form>
  );
}

/** The API would refuse the suggestions. */
const useNothing = (): string[] => [];

function usePrincipals(typed: string): string[] {
  const { data } = useQuery(principalsNamed(typed));
  return data?.principals.map(({ name }) => name) ?? [];
}

function useServers(typed: string): string[] {
  const { data } = useQuery(serversNamed(typed));
  return data?.servers.map(({ name }) => name) ?? [];
}

/** Qualified names: the tools of the typed server. */
function useTools(typed: string): string[] {
  const at = typed.indexOf('.');
  const server = at === -1 ? '' : typed.slice(0, at);
  const servers = useServers(at === -1 ? typed : server);
  const tools = useQuery(toolsOf(server)).data;
  return tools?.map(tool => `${server}.${tool}`) ?? servers.map(name => `${name}.`);
}

interface NamedProps extends ChoiceProps {
  useOffered(typed: string): string[];
}

/** Applies once the typed name is complete. */
function Named({ label, value, useOffered, onValue }: NamedProps) {
  const [typed, setTyped] = useDraft(value);
  const done = (text: string) => {
    if (text !== value && !text.endsWith('.')) onValue(text);
  };
  const offered = useOffered(typed);
  const isWhole = offered.includes(typed);
  useEffect(() => {
    if (isWhole) done(typed);
  }, [isWhole, typed]);
  return <Suggest label={label} value={typed} offered={offered} onValue={setTyped} onDone={done} />;
}

/** A custom time span. */
const OWN = ['own', 'From … to …'] as const;

interface ChoiceProps {
  label: string;
  value: string;
  onValue(value: string): void;
}

function Choice({
  label,
  value,
  onValue,
  children,
}: ChoiceProps & { children: ComponentChildren }) {
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget: at }) => onValue(at.value)}>
        {children}
      </select>
    </p>
  );
}

const Options = ({ all, of }: { all: string; of: readonly (readonly [string, string])[] }) => (
  <>
    <option value="">{all}</option>
    {of.map(([value, word]) => (
      <option key={value} value={value}>
        {word}
      </option>
    ))}
  </>
);

function Moment({ label, value, onValue }: ChoiceProps) {
  const id = useId();
  return (
    <p class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="datetime-local"
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
    </p>
  );
}
