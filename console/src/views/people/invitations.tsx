/** All invitations; invites an existing principal, or creates one. */
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import {
  createPrincipal,
  findOnlyPrincipal,
  groupsQuery,
  readPrincipal,
  updatePrincipal,
} from '../../api/people.ts';
import type { Principal } from '../../generated/types.gen.ts';
import { messageFor, Select, Text } from '../../parts/field.tsx';
import { itemsOf, toDraft } from '../../parts/list-draft.ts';
import { ListField } from '../../parts/list-field.tsx';
import { InvitationList } from './invitation-list.tsx';
import { Invite } from './invite.tsx';
import { PeopleTabs } from './tabs.tsx';
import { WhoChoice } from './who-choice.tsx';

const WHOM = [
  ['new', 'A new person'],
  ['known', 'An existing person'],
] as const;

/** Whether two lists have the same texts, in any order. */
const isSame = (one: readonly string[], other: readonly string[]) =>
  one.toSorted().join() === other.toSorted().join();

export function Invitations() {
  const cache = useQueryClient();
  const [whom, setWhom] = useState<(typeof WHOM)[number][0]>('new');
  const [name, setName] = useState('');
  const [groups, setGroups] = useState(toDraft([]));
  const known = useQuery(groupsQuery()).data?.groups ?? [];
  // A principal that was created for a failed invitation is not created again, but gets the groups of now.
  const made = useRef<Principal>();
  async function findWho(): Promise<Principal> {
    const called = name.trim();
    if (whom === 'known') return findOnlyPrincipal(called);
    const before = made.current;
    const wanted = itemsOf(groups);
    if (before?.name === called && isSame(before.groups, wanted)) return before;
    if (before?.name === called) {
      // It may have been edited since.
      const { id, revision } = await readPrincipal(before.id);
      made.current = await updatePrincipal(id, { groups: wanted }, revision);
    } else made.current = await createPrincipal({ name: called, groups: wanted });
    void cache.invalidateQueries({ queryKey: ['principals'] });
    return made.current;
  }
  function forget(): void {
    made.current = undefined;
    setName('');
    setGroups(toDraft([]));
  }
  return (
    <>
      <h1>People</h1>
      <PeopleTabs />
      <p>A link that signs a person in with a browser, once. They need no token.</p>
      <Invite label="Invite somebody" findWho={findWho} onInvited={forget}>
        {thrown => (
          <>
            <Select label="Whom" value={whom} options={WHOM} onValue={setWhom} />
            {whom === 'known' ? (
              <WhoChoice label="Name, or id" value={name} onValue={setName} />
            ) : (
              <>
                <Text
                  label="Name"
                  wrong={messageFor(thrown, 'name')}
                  isRequired
                  maxLength={100}
                  isCode
                  value={name}
                  onValue={setName}
                />
                <ListField
                  label="Groups"
                  draft={groups}
                  offered={known.map(group => group.name)}
                  wrong={messageFor(thrown, 'groups')}
                  onDraft={setGroups}
                />
              </>
            )}
          </>
        )}
      </Invite>
      <InvitationList principal="" />
    </>
  );
}
