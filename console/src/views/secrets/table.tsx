/** The secrets, their allowed origins, and the servers that use them. */
import { useQueryClient } from '@tanstack/preact-query';
import { Link } from 'wouter-preact';
import { ApiProblem } from '../../api/request.ts';
import { deleteSecret, SECRETS } from '../../api/secrets.ts';
import type { Secret } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

interface TableProps {
  secrets: readonly Secret[];
  /** Whether the user can see the view of servers. */
  seesServers: boolean;
  onDeleted: (name: string) => void;
}

const COLUMNS = ['Secret', 'Sent to', 'Used by', 'Changed', { hidden: 'What can be done' }];

export const SecretTable = ({ secrets, ...rest }: TableProps) => (
  <Table label="Secrets" columns={COLUMNS}>
    {secrets.map(secret => (
      <SecretRow key={secret.name} secret={secret} {...rest} />
    ))}
  </Table>
);

type RowProps = Omit<TableProps, 'secrets'> & { secret: Secret };

function SecretRow({ secret, seesServers, onDeleted }: RowProps) {
  const cache = useQueryClient();
  const { name, origins, servers, updated_at: at } = secret;
  async function remove(): Promise<void> {
    try {
      await deleteSecret(name);
    } catch (thrown) {
      // The shown list of servers that use it is out of date.
      if (thrown instanceof ApiProblem && thrown.status === 409) {
        void cache.invalidateQueries({ queryKey: SECRETS });
      }
      throw thrown;
    }
  }
  function forget(): void {
    cache.setQueryData<Secret[]>(SECRETS, all => all?.filter(each => each.name !== name));
    onDeleted(name);
  }
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
      </th>
      <td>
        {origins.map(origin => (
          <div key={origin}>
            <Foreign text={origin} />
          </div>
        ))}
      </td>
      <td>
        {servers.length === 0 ? <span class="empty">no server</span> : null}
        {servers.map(({ id, name: server }) => (
          <div key={id}>
            {seesServers ? (
              <Link href={`/servers?server=${encodeURIComponent(id)}`}>{server}</Link>
            ) : (
              server
            )}
          </div>
        ))}
      </td>
      <td>
        <Time at={at} />
      </td>
      <td>
        <div class="actions">
          <Link
            class="button quiet"
            href={`/secrets?secret=${name}`}
            aria-label={`Replace ${name}`}
          >
            Replace
          </Link>
          <Confirm label="Delete" says={toWarning(secret)} act={remove} onDone={forget} />
        </div>
      </td>
    </tr>
  );
}

function toWarning({ name, servers }: Secret): string {
  if (servers.length === 0) return `${name} and its value are gone, and cannot be brought back.`;
  const users = servers.map(server => server.name).join(', ');
  return `${name} is used by ${users}. It cannot be deleted while a server refers to it: edit the server first and give it another credential.`;
}
