/** The allow-list of ask: list, add (`?add=entry`) and delete. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { Link, useLocation } from 'wouter-preact';
import { ALLOWLIST, allowlistQuery, deleteEntry } from '../../api/ask-allowlist.ts';
import type { AskAllowlistEntry } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { AskForm } from './ask-form.tsx';

const HERE = '/settings?section=ask';
const COLUMNS = ['Who', 'Server', 'Tool', 'With effects', 'Why', 'Since'];

export function AskAllowlist() {
  const [search] = useAddress();
  const [, go] = useLocation();
  const cache = useQueryClient();
  const list = useInfiniteQuery(allowlistQuery());
  const isAdding = search.get('add') === 'entry';
  const [telling, tell] = useTelling(isAdding);
  const changed = (text: string) => {
    tell(text);
    void cache.invalidateQueries({ queryKey: ALLOWLIST });
    go(HERE);
  };
  if (isAdding) {
    return <AskForm back={HERE} onSaved={() => changed('Ask may call it now.')} />;
  }
  return (
    <>
      <p>
        Without an entry ask calls no tool. Access rules and tokens have to allow the tool as well.
      </p>
      <Told telling={telling} />
      <p class="actions">
        <Link class="button" href={`${HERE}&add=entry`}>
          Allow tools
        </Link>
      </p>
      <PagedList list={list} itemsOf={page => page.entries} none="Ask may call no tools.">
        {entries => (
          <Table label="Tools for ask" columns={[...COLUMNS, { hidden: 'What can be done' }]}>
            {entries.map(entry => (
              <EntryRow
                key={entry.id}
                entry={entry}
                onDeleted={() => changed('Ask may no longer call it.')}
              />
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}

function EntryRow({ entry, onDeleted }: { entry: AskAllowlistEntry; onDeleted: () => void }) {
  const {
    id,
    subject,
    server,
    tool,
    side_effects: hasEffects,
    description,
    created_at: at,
  } = entry;
  return (
    <tr>
      <th scope="row">
        <Subject subject={subject} />
      </th>
      <td>
        <Foreign text={server} max={100} />
      </td>
      <td>
        <code>
          <Foreign text={tool} max={200} />
        </code>
      </td>
      <td>{hasEffects ? 'yes' : 'no'}</td>
      <td class="sentence">
        <Foreign text={description} max={300} />
      </td>
      <td>
        <Time at={at} />
      </td>
      <td>
        <Confirm
          label="Delete"
          says="This entry no longer lets ask call these tools."
          act={() => deleteEntry(id)}
          onDone={onDeleted}
        />
      </td>
    </tr>
  );
}

function Subject({ subject }: Pick<AskAllowlistEntry, 'subject'>) {
  if (subject.kind === 'everyone') return <>everyone</>;
  const text = subject.kind === 'group' ? subject.name : subject.id;
  return (
    <>
      the {subject.kind} <Foreign text={text} max={100} />
    </>
  );
}
