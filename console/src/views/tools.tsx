/** Tools: searched as a model searches them, and tried out. Search and selection are in the address. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { searchQuery, toolQuery, toolsQuery, toTools } from '../api/tools.ts';
import { Foreign } from '../parts/foreign.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Empty, Loading, Problem } from '../parts/states.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useOpened } from '../parts/use-opened.ts';
import { TryTool } from './tools/try-tool.tsx';
import './tools/tools.css';

export default function Tools() {
  const [search, set] = useAddress();
  const query = search.get('q') ?? '';
  const chosen = search.get('tool');
  const choice = { chosen, onChoose: (name: string) => set('tool', name) };
  return (
    <>
      <h1>Tools</h1>
      <form role="search" onSubmit={event => event.preventDefault()}>
        <label for="query">What should it do?</label>
        <input
          id="query"
          type="search"
          maxLength={500}
          value={query}
          onInput={({ currentTarget }) => set('q', currentTarget.value)}
        />
      </form>
      <div class="beside">
        <div>{query.trim() === '' ? <All {...choice} /> : <Found query={query} {...choice} />}</div>
        {chosen === null ? null : <Chosen key={chosen} name={chosen} />}
      </div>
    </>
  );
}

interface Choice {
  chosen: string | null;
  onChoose: (name: string) => void;
}

function All(choice: Choice) {
  const list = useInfiniteQuery(toolsQuery());
  return (
    <PagedList list={list} itemsOf={toTools} none="There is no tool for you yet.">
      {tools => <ToolList tools={tools} {...choice} />}
    </PagedList>
  );
}

function Found({ query, ...choice }: Choice & { query: string }) {
  const found = useQuery({ ...searchQuery(query), placeholderData: keepPreviousData });
  if (found.error) return <Problem thrown={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Loading />;
  const { tools, metadata } = found.data;
  if (tools.length === 0) return <Empty>Nothing fits these words.</Empty>;
  return (
    <>
      <p role="status" class="empty">
        The best {tools.length} of {metadata.total_tools_searched}
      </p>
      <ToolList tools={tools} {...choice} />
    </>
  );
}

interface ToolListProps extends Choice {
  tools: readonly { name: string; description: string }[];
}

const ToolList = ({ tools, chosen, onChoose }: ToolListProps) => (
  <ul class="tools">
    {tools.map(({ name, description }) => (
      <li key={name}>
        <button
          type="button"
          class="quiet"
          aria-pressed={name === chosen}
          onClick={() => onChoose(name)}
        >
          <strong>{name}</strong>
          <small>
            <Foreign text={description} max={200} />
          </small>
        </button>
      </li>
    ))}
  </ul>
);

function Chosen({ name }: { name: string }) {
  const found = useQuery(toolQuery(name));
  // The form and its call stay, whatever a refresh brings.
  const tool = useOpened(name, found.data ?? undefined);
  return (
    <div>
      {found.error ? <Problem thrown={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.isPending ? <Loading /> : null}
      {found.data === null ? <Empty>There is no such tool for you.</Empty> : null}
      {tool ? <TryTool tool={tool} /> : null}
    </div>
  );
}
