/** The tools of a server that the caller may use: names and descriptions, as text. */
import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { serverToolsQuery } from '../../api/servers.ts';
import type { Server, Tool } from '../../generated/types.gen.ts';
import { boxOf } from '../../parts/box.ts';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';

/** Rows shown at first, and added per click. */
const STEP = 100;
const MAX_NAME_CHARS = 200;

export function ServerTools({ server, isAsked }: { server: Server; isAsked: boolean }) {
  const { id, status, tool_count: count, held_tools: held, name } = server;
  const query = serverToolsQuery(id, `${status} ${count} ${held} ${name}`);
  const found = useQuery({ ...query, enabled: isAsked });
  const [text, setText] = useState('');
  const [shown, setShown] = useState(STEP);
  const tools = found.data?.servers.find(each => each.id === id)?.tools ?? [];
  const matching = tools.filter(tool => matches(tool, text.toLowerCase()));
  return (
    <section>
      <h2>Tools that you may use</h2>
      {found.error ? <Problem thrown={found.error} onRetry={() => void found.refetch()} /> : null}
      {found.data || found.error ? null : <Loading />}
      {found.data && tools.length === 0 ? <Empty>There is none now.</Empty> : null}
      {tools.length > 10 ? (
        <label class="find">
          Find among them
          <input
            type="search"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
      ) : null}
      {tools.length > 0 ? (
        <p class="empty" role="status">
          {Math.min(shown, matching.length)} of {tools.length}
        </p>
      ) : null}
      <dl class="tools">
        {matching.slice(0, shown).map(tool => (
          <ToolEntry key={tool.name} tool={tool} />
        ))}
      </dl>
      {matching.length > shown ? (
        <button type="button" class="quiet" onClick={() => setShown(shown + STEP)}>
          Show more
        </button>
      ) : null}
    </section>
  );
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

const matches = (tool: Tool, text: string) =>
  text === '' ||
  tool.original_name.toLowerCase().includes(text) ||
  textOf(tool['description']).toLowerCase().includes(text);

function ToolEntry({ tool }: { tool: Tool }) {
  const description = toShown(textOf(tool['description'])).trim();
  return (
    <>
      <dt>
        <code>
          <Foreign text={tool.original_name} max={MAX_NAME_CHARS} />
        </code>
      </dt>
      <dd {...boxOf(description)}>{description === '' ? 'Without a description' : description}</dd>
    </>
  );
}
