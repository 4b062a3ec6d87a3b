/** Tools: found by words as a model finds them, and tried. What is looked for and looked at stands in the address. */
import { useQuery } from '@tanstack/preact-query';
import { searchQuery, toolsQuery, type ListedTool } from '../api/tools.ts';
import { Foreign } from '../parts/foreign.tsx';
import { Empty, Loading, Problem } from '../parts/states.tsx';
import { useAddress } from '../parts/use-address.ts';
import { TryTool } from './tools/try-tool.tsx';
import './tools/tools.css';

/** Most that are shown at once; a search finds the others. */
const MAX_SHOWN = 200;

export default function Tools() {
  const [search, set] = useAddress();
  const query = search.get('q') ?? '';
  const chosen = search.get('tool');
  const tools = useQuery(toolsQuery());
  const found = useQuery(searchQuery(query));
  if (tools.error) return <Problem thrown={tools.error} onRetry={() => void tools.refetch()} />;
  if (!tools.data) return <Loading />;
  const all = tools.data;
  const byName = new Map(all.map(tool => [tool.name, tool]));
  const shown =
    query === '' ? all : found.data?.tools.flatMap(({ name }) => byName.get(name) ?? []);
  const tool = chosen === null ? undefined : byName.get(chosen);
  return (
    <>
      <h1>Tools</h1>
      <form role="search" onSubmit={event => event.preventDefault()}>
        <label for="query">What is it wanted for?</label>
        <input
          id="query"
          type="search"
          value={query}
          onInput={({ currentTarget }) => set('q', currentTarget.value)}
        />
      </form>
      {found.error ? <Problem thrown={found.error} /> : null}
      <div class="beside">
        <ToolList
          tools={shown}
          count={all.length}
          chosen={chosen}
          onChoose={name => set('tool', name)}
        />
        {tool ? <TryTool key={tool.name} tool={tool} /> : null}
      </div>
    </>
  );
}

interface ToolListProps {
  tools: readonly ListedTool[] | undefined;
  count: number;
  chosen: string | null;
  onChoose: (name: string) => void;
}

function ToolList({ tools, count, chosen, onChoose }: ToolListProps) {
  if (!tools) return <Loading />;
  if (tools.length === 0) {
    return (
      <Empty>{count === 0 ? 'There is no tool for you yet.' : 'Nothing fits these words.'}</Empty>
    );
  }
  return (
    <div>
      <p role="status">
        {tools.length} of {count}
        {tools.length > MAX_SHOWN ? `, the first ${MAX_SHOWN} shown` : ''}
      </p>
      <ul class="tools">
        {tools.slice(0, MAX_SHOWN).map(({ name, description }) => (
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
    </div>
  );
}
