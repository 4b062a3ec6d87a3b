/** Usable invitations. */
import { Link } from 'wouter-preact';
import { deleteInvitation, invitationsQuery } from '../../api/sign-in.ts';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Time } from '../../parts/time.tsx';
import { toAddress } from './addresses.ts';
import { Records } from './records.tsx';

/** @param principal whose; empty: everybody's */
export const InvitationList = ({ principal }: { principal: string }) => (
  <Records
    label="Invitations"
    query={invitationsQuery(principal)}
    itemsOf={page => page.invitations}
    none="There are no open invitations."
    columns={['Who', 'Made', 'Ends']}
    cells={({ principal: id, principal_name: name, created_at: made, expires_at: until }) => (
      <>
        <th scope="row">
          <Link href={toAddress(id)}>
            <Foreign text={name} max={100} />
          </Link>
        </th>
        <td>
          <Time at={made} />
        </td>
        <td>
          <Time at={until} />
        </td>
      </>
    )}
    verb="Withdraw"
    says={({ principal_name: name }) =>
      `The link for ${toShown(name, 100)} no longer signs anybody in.`
    }
    end={deleteInvitation}
    ended={({ principal_name: name }) => `The link for ${toShown(name, 100)} is withdrawn.`}
  />
);
