/** The user's own sign-in: passkeys, and the browsers in which they are signed in. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import type { Me } from '../../api/me.ts';
import {
  deletePasskey,
  endSignIn,
  PASSKEYS,
  passkeysQuery,
  SIGN_INS,
  signInsQuery,
} from '../../api/own-sign-in.ts';
import type { Passkey, SignIn } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import type { ViewProps } from '../../view-props.ts';

const WAYS: Readonly<Record<SignIn['by'], string>> = {
  token: 'a token',
  invitation: 'an invitation',
  identity: 'a provider',
  passkey: 'a passkey',
};

export function YourSignIn({ me }: ViewProps) {
  const cache = useQueryClient();
  const [telling, tell] = useTelling();
  const changed = (text: string) => {
    tell(text);
    for (const key of [PASSKEYS, SIGN_INS, ['me']]) {
      void cache.invalidateQueries({ queryKey: key });
    }
  };
  return (
    <>
      <p>
        You are <Foreign text={me.name} max={100} />
        {me.groups.length > 0 ? (
          <>
            , in <Foreign text={me.groups.join(', ')} max={500} />
          </>
        ) : null}
        .
      </p>
      <Told telling={telling} />
      <p class="actions">
        <a class="button quiet" href="/sign-in/passkeys">
          Add a passkey
        </a>
      </p>
      {me.limited ? (
        <p>You are signed in with a token that has limits, so your other sign-ins are not shown.</p>
      ) : (
        <Lists me={me} onChanged={changed} />
      )}
    </>
  );
}

function Lists({ me, onChanged }: { me: Me; onChanged: (text: string) => void }) {
  const passkeys = useInfiniteQuery(passkeysQuery(me.principal));
  const signIns = useInfiniteQuery(signInsQuery(me.principal));
  return (
    <>
      <h3>Passkeys</h3>
      <PagedList
        list={passkeys}
        itemsOf={page => page.passkeys}
        none="You have none that belongs to this sign-in."
      >
        {all => (
          <Table
            label="Passkeys"
            columns={['Passkey', 'Added', 'Used', { hidden: 'What can be done' }]}
          >
            {all.map(passkey => (
              <PasskeyRow
                key={passkey.id}
                passkey={passkey}
                onDeleted={() => onChanged('The passkey is deleted.')}
              />
            ))}
          </Table>
        )}
      </PagedList>
      <h3>Where you are signed in</h3>
      <PagedList
        list={signIns}
        itemsOf={page => page.sign_ins}
        none="You are not signed in with a browser."
      >
        {all => (
          <Table
            label="Sign-ins"
            columns={['By', 'Since', 'Until', { hidden: 'What can be done' }]}
          >
            {all.map(signIn => (
              <SignInRow
                key={signIn.id}
                signIn={signIn}
                onEnded={() => onChanged('That browser is signed out.')}
              />
            ))}
          </Table>
        )}
      </PagedList>
    </>
  );
}

function PasskeyRow({ passkey, onDeleted }: { passkey: Passkey; onDeleted: () => void }) {
  const { id, name, created_at: at, last_used_at: usedAt } = passkey;
  return (
    <tr>
      <th scope="row">
        <Foreign text={name} max={100} />
      </th>
      <td>
        <Time at={at} />
      </td>
      <td>{usedAt === null ? 'never' : <Time at={usedAt} />}</td>
      <td>
        <Confirm
          label="Delete"
          says={`Nobody signs in by ${toShown(name, 100)} any more. Browsers and programs that signed in with it are signed out at once.`}
          act={() => deletePasskey(id)}
          onDone={onDeleted}
        />
      </td>
    </tr>
  );
}

function SignInRow({ signIn, onEnded }: { signIn: SignIn; onEnded: () => void }) {
  const { id, by, created_at: since, expires_at: until } = signIn;
  return (
    <tr>
      <th scope="row">{WAYS[by]}</th>
      <td>
        <Time at={since} />
      </td>
      <td>
        <Time at={until} />
      </td>
      <td>
        <Confirm
          label="Sign it out"
          says="The browser is signed out at once; it may be this one. What programs were allowed stays."
          act={() => endSignIn(id)}
          onDone={onEnded}
        />
      </td>
    </tr>
  );
}
