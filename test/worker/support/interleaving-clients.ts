/** The clients of an interleaving, created for it: their credentials, and the objects that hold their state. */
import { principalOwner, sessionOwner } from '../../../src/shared/identity/object-owners.ts';
import { env } from 'cloudflare:workers';
import { SealedIds } from '../../../src/access/admission/sealed-id.ts';
import { createKeyRing } from '../../../src/shared/crypto/key-ring.ts';
import { capabilitiesKey, clientCapabilitiesOf } from '../../../src/shared/client-capabilities.ts';
import { CLIENT_CAPABILITIES, openSession } from './asking-clients.ts';
import { createToken, type Portico } from './portico.ts';
import type { ClientName } from './session-model.ts';

/** A client: its credential, and its session if it has one. */
export interface Person {
  token: string;
  session: string;
  /** Name of the object that makes its calls to a server. */
  objectAt(serverId: string): string;
}

export type People = Record<ClientName, Person>;

/** Two sessions of one principal, and two principals without a session. */
export async function openPeople(portico: Portico): Promise<People> {
  const sealed = new SealedIds(createKeyRing(env.PORTICO_KEYS));
  const { token } = await createToken(portico);
  const inSession = async (): Promise<Person> => {
    const session = await openSession(portico, { token });
    const owner = sessionOwner((await sealed.open(session))?.id ?? '');
    return { token, session, objectAt: () => owner };
  };
  const alone = async (): Promise<Person> => {
    const created = await createToken(portico);
    const row = env.DB.prepare('SELECT principal_id AS id FROM tokens WHERE id = ?');
    const principal = await row.bind(created.id).first<{ id: string }>();
    const key = capabilitiesKey(clientCapabilitiesOf(CLIENT_CAPABILITIES));
    const objectAt = (serverId: string) => principalOwner(principal?.id ?? '', serverId, key);
    return { token: created.token, session: '', objectAt };
  };
  return {
    'legacy-1': await inSession(),
    'legacy-2': await inSession(),
    'modern-1': await alone(),
    'modern-2': await alone(),
  };
}
