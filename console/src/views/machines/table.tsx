/** The table of machines: state, since when, and actions. */
import { revokeConnector, rotateConnector, type Enrolled } from '../../api/connectors.ts';
import type { Connector } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

interface TableProps {
  machines: readonly Connector[];
  mayWrite: boolean;
  onEnrolled: (enrolled: Enrolled) => void;
  onRevoked: (machine: Connector) => void;
}

const COLUMNS = ['Machine', 'State', 'Since', 'Added'];

export const MachineTable = ({ machines, mayWrite, ...acts }: TableProps) => (
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
            <Acts machine={machine} {...acts} />
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

type ActsProps = Pick<TableProps, 'onEnrolled' | 'onRevoked'> & { machine: Connector };

function Acts({ machine, onEnrolled, onRevoked }: ActsProps) {
  const { id, name, status } = machine;
  const isThere = status === 'CONNECTED';
  return (
    <div class="actions">
      <Confirm
        label="New command"
        says={`${name} gets a new token, for a machine that lost its own or a new machine in its place. ${
          isThere ? 'It is disconnected now, and connects' : 'It connects'
        } again only with the new command. Its servers stay.`}
        act={() => rotateConnector(id)}
        onDone={onEnrolled}
      />
      <Confirm
        label="Revoke"
        says={`${name} ${isThere ? 'is disconnected at once' : 'can no longer connect'}. Its servers stay registered, but cannot be reached: delete those under Servers that are no longer needed.`}
        act={() => revokeConnector(id)}
        onDone={() => onRevoked(machine)}
      />
    </div>
  );
}
