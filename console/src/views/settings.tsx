/** Settings of the deployment, and of the user. Each section has its address: `?section=keys`. */
import type { ComponentType } from 'preact';
import { Link } from 'wouter-preact';
import { mayUse, type Me } from '../api/me.ts';
import { useAddress } from '../parts/use-address.ts';
import type { ViewProps } from '../view-props.ts';
import { AskAllowlist } from './settings/ask.tsx';
import { AuditCheck } from './settings/audit-check.tsx';
import { CacheRules } from './settings/cache-rules.tsx';
import { Grants } from './settings/grants.tsx';
import { EncryptionKeys } from './settings/keys.tsx';
import { LanguageModel } from './settings/model.tsx';
import { Programs } from './settings/programs.tsx';
import './settings/settings.css';
import { YourSignIn } from './settings/sign-in.tsx';
import { Transfer } from './settings/transfer.tsx';
import { Webhooks } from './settings/webhooks.tsx';

interface Section {
  id: string;
  name: string;
  /** As for views. */
  needs?: Me['scopes'][number];
  Content: ComponentType<ViewProps>;
}

const SECTIONS: readonly Section[] = [
  { id: 'sign-in', name: 'Your sign-in', Content: YourSignIn },
  { id: 'keys', name: 'Encryption keys', needs: 'admin', Content: EncryptionKeys },
  { id: 'model', name: 'Language model', needs: 'admin', Content: LanguageModel },
  { id: 'cache', name: 'Result cache', needs: 'admin', Content: CacheRules },
  { id: 'ask', name: 'Tools for ask', needs: 'admin', Content: AskAllowlist },
  { id: 'webhooks', name: 'Webhooks', needs: 'admin', Content: Webhooks },
  { id: 'programs', name: 'Programs', needs: 'admin', Content: Programs },
  { id: 'grants', name: 'Grants', needs: 'admin', Content: Grants },
  { id: 'transfer', name: 'Export and import', needs: 'servers:read', Content: Transfer },
  { id: 'audit', name: 'Check of the audit', needs: 'admin', Content: AuditCheck },
];

export default function Settings({ me }: ViewProps) {
  const [search] = useAddress();
  const sections = SECTIONS.filter(({ needs }) => needs === undefined || mayUse(me, needs));
  const asked = search.get('section') ?? sections[0]?.id;
  const chosen = sections.find(({ id }) => id === asked);
  return (
    <>
      <h1>Settings and keys</h1>
      <nav class="sections" aria-label="Sections">
        <ul>
          {sections.map(({ id, name }) => (
            <li key={id}>
              <Link
                href={`/settings?section=${id}`}
                aria-current={id === asked ? 'page' : undefined}
              >
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {chosen ? (
        <div key={chosen.id} class="section">
          <h2>{chosen.name}</h2>
          <chosen.Content me={me} />
        </div>
      ) : (
        <p class="problem" role="alert">
          There is no such section for you.
        </p>
      )}
    </>
  );
}
