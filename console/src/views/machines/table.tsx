/** The table of machines: state, since when, and actions. */
import { revokeConnector, rotateConnector, type Enrolled } from '../../api/connectors.ts';
import type { Connector } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

interface TableProps {
  machines: readonly Connector[];
  mayWrite: boolean;
  onChanged: (what: { enrolled?: Enrolled; says?: string }) => void;
}

const COLUMNS = ['Machine', 'State', 'Since', 'Added'];

export const MachineTable = ({ machines, mayWrite, onChanged }: TableProps) => (
  <Table
    label="Machines"
    columns={mayWrite ? [...COLUMNS, { hidden: 'What can be done' }] : COLUMNS}
  >
    {machines.map(machine => (
      <tr key={machine.id}>
        <th scope="row">{machine.name}</th>
        <td>
          <State {...machine} />
        </td>
        <td>{machine.last_seen_at === null ? null : <Time at={machine.last_seen_at} />}</td>
        <td>
          <Time at={machine.created_at} />
        </td>
        {mayWrite ? (
          <td>
            <Acts machine={machine} onChanged={onChanged} />
          </td>
        ) : null}
      </tr>
    ))}
  </Table>
);

function State({ status, last_seen_at: seen }: Connector) {
  if (status === 'CONNECTED') return <span class="badge good">connected</span>;
  return <span class="badge">{seen === null ? 'was never there' : 'not connected'}</span>;
}

type ActsProps = Pick<TableProps, 'onChanged'> & { machine: Connector };

function Acts({ machine: { id, name, status }, onChanged }: ActsProps) {
  const isThere = status === 'CONNECTED';
  return (
    <div class="actions">
      <Confirm
        label="New command"
        says={`${name} gets a new token, for a machine that lost its own or a new machine in its place. ${
          isThere ? 'It is disconnected now, and connects' : 'It connects'
        } again only with the new command. Its servers stay.`}
        act={() => rotateConnector(id)}
        onDone={enrolled => onChanged({ enrolled })}
      />
      <Confirm
        label="Revoke"
        says={`${name} ${isThere ? 'is disconnected at once' : 'can no longer connect'}. Its servers stay registered, but cannot be reached: delete those under Servers that are no longer needed.`}
        act={() => revokeConnector(id)}
        onDone={() => onChanged({ says: `${name} is revoked.` })}
      />
    </div>
  );
}
