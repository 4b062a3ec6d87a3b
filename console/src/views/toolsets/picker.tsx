/** Picks tools of all servers, with the search that models use; names and descriptions are shown as text. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { searchQuery, toolsQuery } from '../../api/tools.ts';
import type { SearchResult, ToolsByServer } from '../../generated/types.gen.ts';
import { Foreign } from '../../parts/foreign.tsx';
import type { ListDraft } from '../../parts/list-draft.ts';
import { PagedList } from '../../parts/paged-list.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { toggled } from './form-values.ts';

interface PickerProps {
  include: ListDraft;
  onInclude: (include: ListDraft) => void;
}

/** A tool under its server's own name. */
interface Choice {
  server: string;
  tool: string;
  description: string;
}

const toText = (value: unknown) => (typeof value === 'string' ? value : '');

const choicesOf = ({ servers }: ToolsByServer): Choice[] =>
  servers.flatMap(({ name: server, tools }) =>
    tools.map(({ original_name: tool, description }) => {
      return { server, tool, description: toText(description) };
    }),
  );
const hitsOf = ({ tools }: SearchResult): Choice[] =>
  tools.map(({ source_server: { name: server }, original_name: tool, description }) => {
    return { server, tool, description };
  });

export function Picker(picked: PickerProps) {
  const [words, setWords] = useState('');
  return (
    <fieldset class="picker">
      <legend>Tools</legend>
      <label for="picker-find">Find tools</label>
      <input
        id="picker-find"
        type="search"
        maxLength={500}
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
        onKeyDown={event => {
          if (event.key === 'Enter') event.preventDefault();
        }}
      />
      {words.trim() === '' ? <All {...picked} /> : <Found words={words} {...picked} />}
    </fieldset>
  );
}

function All(picked: PickerProps) {
  const list = useInfiniteQuery(toolsQuery());
  return (
    <PagedList list={list} itemsOf={choicesOf} none="There is no tool for you yet.">
      {choices => <Choices choices={choices} {...picked} />}
    </PagedList>
  );
}

function Found({ words, ...picked }: PickerProps & { words: string }) {
  const found = useQuery({ ...searchQuery(words), placeholderData: keepPreviousData });
  if (found.error) return <Problem thrown={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Loading />;
  const choices = hitsOf(found.data);
  if (choices.length === 0) return <Empty>Nothing fits these words.</Empty>;
  return (
    <>
      <p role="status" class="empty">
        The best {choices.length} of {found.data.metadata.total_tools_searched}
      </p>
      <Choices choices={choices} {...picked} />
    </>
  );
}

function Choices({ choices, include, onInclude }: PickerProps & { choices: readonly Choice[] }) {
  const pick = (pattern: string) => onInclude(toggled(include, pattern));
  const isPicked = (pattern: string) => include.items.includes(pattern);
  return (
    <div class="picker-list">
      {[...Map.groupBy(choices, ({ server }) => server)].map(([server, tools]) => (
        <section key={server} aria-label={server}>
          <label class="check">
            <input type="checkbox" checked={isPicked(server)} onChange={() => pick(server)} />
            <span>All of {server}, including tools it gets later</span>
          </label>
          <ul>
            {tools.map(({ tool, description }) => (
              <li key={tool}>
                <label class="check">
                  <input
                    type="checkbox"
                    checked={isPicked(server) || isPicked(`${server}.${tool}`)}
                    disabled={isPicked(server)}
                    onChange={() => pick(`${server}.${tool}`)}
                  />
                  <span>
                    <code>
                      <Foreign text={tool} max={200} />
                    </code>{' '}
                    <small>
                      <Foreign text={description} max={200} />
                    </small>
                  </span>
                </label>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
