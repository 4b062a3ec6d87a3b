/** Invitations of one principal. */
import type { Principal } from '../../generated/types.gen.ts';
import { InvitationList } from './invitation-list.tsx';
import { Invite } from './invite.tsx';

export const InvitationsOf = ({ principal }: { principal: Principal }) => (
  <section>
    <h2>Invitations</h2>
    <Invite label="Invite" findWho={() => Promise.resolve(principal)} />
    <InvitationList principal={principal.id} />
  </section>
);
