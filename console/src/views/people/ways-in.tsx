/** A principal's other ways in: browsers, passkeys, programs with access, and identities at providers. */
import { identitiesQuery, deleteIdentity } from '../../api/sign-in-providers.ts';
import {
  deletePasskey,
  endGrant,
  endSignIn,
  grantsQuery,
  passkeysQuery,
  signInsQuery,
} from '../../api/sign-in.ts';
import type { Principal, SignIn } from '../../generated/types.gen.ts';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Time, toWhole } from '../../parts/time.tsx';
import { Records } from './records.tsx';

const BY: Readonly<Record<SignIn['by'], string>> = {
  token: 'a token',
  invitation: 'an invitation',
  identity: 'a provider',
  passkey: 'a passkey',
};

export const WaysIn = ({ principal: { id } }: { principal: Principal }) => (
  <>
    <h2>Browsers it is signed in with</h2>
    <Records
      label="Browsers"
      query={signInsQuery(id)}
      itemsOf={page => page.sign_ins}
      none="It is signed in nowhere."
      columns={['Signed in', 'By', 'Ends']}
      cells={({ created_at: since, by, expires_at: until }) => (
        <>
          <td>
            <Time at={since} />
          </td>
          <td>{BY[by]}</td>
          <td>
            <Time at={until} />
          </td>
        </>
      )}
      verb="Sign out"
      says={({ created_at: since }) =>
        `The browser that was signed in at ${toWhole(since)} is signed out at once. Programs that were allowed there stay allowed.`
      }
      end={endSignIn}
      ended={() => 'The browser is signed out.'}
    />
    <h2>Programs it allowed</h2>
    <Records
      label="Programs"
      query={grantsQuery(id)}
      itemsOf={page => page.grants}
      none="It has allowed no program."
      columns={['Program', 'It may', 'Last used', 'Ends']}
      cells={({ name, scopes, last_used_at: used, expires_at: until }) => (
        <>
          <th scope="row">
            <Foreign text={name} max={100} />
          </th>
          <td>{scopes.join(' ')}</td>
          <td>{used === null ? 'never' : <Time at={used} />}</td>
          <td>
            <Time at={until} />
          </td>
        </>
      )}
      verb="End access"
      says={({ name }) =>
        `What ${toShown(name, 100)} calls with is refused within a second, and its streams end. It has to ask again.`
      }
      end={endGrant}
      ended={({ name }) => `${toShown(name, 100)} no longer has access.`}
    />
    <h2>Passkeys</h2>
    <Records
      label="Passkeys"
      query={passkeysQuery(id)}
      itemsOf={page => page.passkeys}
      none="It has no passkey."
      columns={['Name', 'Since', 'Last used']}
      cells={({ name, created_at: since, last_used_at: used }) => (
        <>
          <th scope="row">
            <Foreign text={name} max={100} />
          </th>
          <td>
            <Time at={since} />
          </td>
          <td>{used === null ? 'never' : <Time at={used} />}</td>
        </>
      )}
      verb="Remove"
      says={({ name }) =>
        `The passkey ${toShown(name, 100)} can no longer be used to sign in. Browsers and programs that signed in with it are signed out at once.`
      }
      end={deletePasskey}
      ended={({ name }) => `The passkey ${toShown(name, 100)} is removed.`}
    />
    <h2>Who it is at providers</h2>
    <Records
      label="Identities"
      query={identitiesQuery({ principal: id })}
      itemsOf={page => page.identities}
      none="No provider signs it in."
      columns={['Name there', 'Provider', 'Signed in', 'Counts until']}
      cells={identity => (
        <>
          <th scope="row">
            <Foreign text={identity.name} max={100} />
          </th>
          <td>
            <Foreign text={identity.issuer} max={100} />
          </td>
          <td>{identity.signed_in_at === null ? 'never' : <Time at={identity.signed_in_at} />}</td>
          <td>
            <Time at={identity.expires_at} />
          </td>
        </>
      )}
      verb="Remove"
      says={({ name }) =>
        `${toShown(name, 100)} is no longer linked to this principal. Browsers and programs that signed in with it are signed out at once.`
      }
      end={deleteIdentity}
      ended={({ name }) => `${toShown(name, 100)} is removed.`}
    />
  </>
);
