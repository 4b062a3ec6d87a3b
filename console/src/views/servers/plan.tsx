/** What an import would do, or did, entry by entry. */
import { Link } from 'wouter-preact';
import type { Import } from '../../generated/types.gen.ts';
import { toShown } from '../../parts/foreign.tsx';
import { Empty } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { useFocus } from '../../parts/use-focus.ts';

type Entry = Import['entries'][number];

const WOULD: Readonly<Record<Entry['action'], string>> = {
  create: 'is added',
  update: 'is changed',
  skip: 'is left out',
  unsupported: 'cannot be added here',
  invalid: 'has a problem',
  failed: 'failed',
};
const DID: Readonly<Record<Entry['action'], string>> = {
  ...WOULD,
  create: 'was added',
  update: 'was changed',
  skip: 'was left out',
};
const KIND: Readonly<Partial<Record<Entry['action'], string>>> = {
  create: 'good',
  update: 'good',
  invalid: 'bad',
  failed: 'bad',
};
const isActed = ({ action }: Entry) => action === 'create' || action === 'update';

interface PlanProps {
  plan: Import;
  isBusy: boolean;
  onGo: () => void;
}

export function Plan({ plan: { dry_run: isPlan, entries }, isBusy, onGo }: PlanProps) {
  const heading = useFocus<HTMLHeadingElement>(isPlan);
  const count = entries.filter(isActed).length;
  const isWrong = entries.some(({ action }) => action === 'invalid');
  const words = isPlan ? WOULD : DID;
  return (
    <section>
      <h2 ref={heading} tabIndex={-1}>
        {isPlan ? 'What would be done' : 'What was done'}
      </h2>
      {entries.length === 0 ? <Empty>There is no server in it.</Empty> : null}
      {entries.length > 0 ? (
        <Table label="Servers of the file" columns={['Server', 'What happens to it', 'Why']}>
          {entries.map(entry => (
            <tr key={entry.path}>
              <th scope="row">
                {entry.server_id === undefined ? (
                  toShown(entry.name, 200)
                ) : (
                  <Link href={`/servers?server=${encodeURIComponent(entry.server_id)}`}>
                    {toShown(entry.name, 200)}
                  </Link>
                )}
              </th>
              <td>
                <span class={`badge ${KIND[entry.action] ?? ''}`}>{words[entry.action]}</span>
              </td>
              <td>
                {whyOf(entry).map(line => (
                  <div key={line}>{toShown(line, 500)}</div>
                ))}
              </td>
            </tr>
          ))}
        </Table>
      ) : null}
      {isPlan && isWrong ? (
        <p class="problem">Correct the problems in the text above; until then nothing is done.</p>
      ) : null}
      {isPlan && !isWrong && count > 0 ? (
        <p>
          <button type="button" disabled={isBusy} onClick={onGo}>
            {count === 1 ? 'Do it for 1 server' : `Do it for ${count} servers`}
          </button>
        </p>
      ) : null}
    </section>
  );
}

function whyOf({ given_name: given, name, reasons, problems, secrets }: Entry): string[] {
  return [
    ...(given === name ? [] : [`It is called ${given} in the file`]),
    ...reasons,
    ...problems.map(({ field, message }) => `${field}: ${message}`),
    ...(secrets.length > 0 ? [`Secrets are stored: ${secrets.join(', ')}`] : []),
  ];
}
