/** Toolsets: the list, or the open page, which is in the address: `?toolset=ID`, `?add=one`, `?name=…`. */
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { toolsetListQuery, toolsetQuery } from '../api/toolsets.ts';
import type { Toolset } from '../generated/types.gen.ts';
import { NameFilters } from '../parts/filters.tsx';
import { Foreign } from '../parts/foreign.tsx';
import { Heading } from '../parts/heading.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Snippet } from '../parts/snippet.tsx';
import { Opening } from '../parts/opening.tsx';
import { Table } from '../parts/table.tsx';
import { Told, type Telling } from '../parts/told.tsx';
import { useAddress } from '../parts/use-address.ts';
import { ToolsetEditor } from './toolsets/editor.tsx';
import './toolsets/toolsets.css';

const addressOf = (id: string) => `/toolsets?toolset=${encodeURIComponent(id)}`;
const BACK = ['/toolsets', 'All toolsets'] as const;

export default function Toolsets() {
  const [search] = useAddress();
  const [, go] = useLocation();
  /** The outcome of an action, and the page that shows it. */
  const [told, setTold] = useState<Telling & { at: string }>();
  const id = search.get('toolset');
  const isAdding = search.get('add') === 'one';
  const at = isAdding ? 'add' : (id ?? '');
  // Opening another page clears the message.
  useEffect(() => setTold(before => (before?.at === at ? before : undefined)), [at]);
  const telling = told?.at === at ? told : undefined;
  function done(saved: Toolset | undefined): void {
    const text = saved ? 'It is saved. That takes effect within a second.' : 'It is deleted.';
    setTold({ text, at: saved?.id ?? '' });
    go(saved ? addressOf(saved.id) : '/toolsets');
  }
  if (isAdding) {
    return (
      <>
        <Heading back={BACK}>Make a toolset</Heading>
        <ToolsetEditor onDone={done} />
      </>
    );
  }
  if (id !== null) return <OneToolset key={id} id={id} telling={telling} onDone={done} />;
  return <List telling={telling} />;
}

function List({ telling }: { telling: Telling | undefined }) {
  const [search, set] = useAddress();
  const name = search.get('name') ?? '';
  const list = useInfiniteQuery({
    ...toolsetListQuery(name),
    placeholderData: before => before,
  });
  return (
    <>
      <h1>Toolsets</h1>
      <p>
        A selection of tools with a URL of its own, and with names and descriptions of your choice.
        It shows nobody a tool that they may not use.
      </p>
      <Told telling={telling} />
      <p class="actions">
        <Link class="button" href="/toolsets?add=one">
          Make a toolset
        </Link>
      </p>
      <NameFilters name={name} onName={value => set('name', value)} maxLength={63} />
      <PagedList
        list={list}
        itemsOf={page => page.toolsets}
        none={name === '' ? 'There is none yet.' : 'No toolset has such a name.'}
      >
        {toolsets => (
          <Table label="Toolsets" columns={['Toolset', 'For', 'Description']}>
            {toolsets.map(toolset => (
              <tr key={toolset.id}>
                <th scope="row">
                  <Link href={addressOf(toolset.id)}>{toolset.name}</Link>
                </th>
                <td>{forWhom(toolset)}</td>
                <td class="sentence">
                  <Foreign text={toolset.description} max={400} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}

function forWhom({ members }: Toolset): string {
  if (!members) return 'everybody';
  const people = members.principals?.length ?? 0;
  const named = [
    ...(members.groups ?? []),
    ...(people > 0 ? [people === 1 ? '1 person' : `${people} people`] : []),
  ];
  return named.length > 0 ? named.join(', ') : 'administrators';
}

interface OneProps {
  id: string;
  telling: Telling | undefined;
  onDone: (saved: Toolset | undefined) => void;
}

function OneToolset({ id, telling, onDone }: OneProps) {
  const found = useQuery(toolsetQuery(id));
  // What is typed stays while others edit the toolset; the form restarts after a save here.
  const [saves, setSaves] = useState(0);
  const toolset = found.data;
  if (!toolset) return <Opening back={BACK} found={found} />;
  return (
    <>
      <Heading back={BACK}>{toolset.name}</Heading>
      <Told telling={telling} />
      <Snippet label="Its URL" text={new URL(toolset.path, location.origin).href} />
      <ToolsetEditor
        key={saves}
        toolset={toolset}
        onDone={saved => {
          setSaves(saves + 1);
          onDone(saved);
        }}
      />
    </>
  );
}
