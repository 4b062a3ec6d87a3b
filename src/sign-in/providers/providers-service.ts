/** Sign-in providers: validates and stores them. Deleting a provider ends its identities and everything that came from them. */
import { ALWAYS } from '../../audit/admin-audit.ts';
import { decideAddress } from '../../http/address-policy.ts';
import { patched } from '../../records/record-schema.ts';
import {
  createEditedRecords,
  type EditedRecords,
  type RecordPorts,
} from '../../records/records.ts';
import { fieldProblem } from '../../shared/errors/field-problems.ts';
import { PorticoError } from '../../shared/errors/portico-error.ts';
import { GITHUB_ISSUER } from '../github/github-client.ts';
import type { CreateProvider, Provider, UpdateProvider } from './providers-schema.ts';
import { endAsserted, MAX_PROVIDERS, PROVIDERS } from './providers-store.ts';

export interface ProviderPorts extends RecordPorts {
  allowsLoopback: boolean;
  onAccessChanged(): Promise<void>;
}

export type Providers = EditedRecords<Provider, CreateProvider, object, UpdateProvider>;

/** Known issuers at which anybody can have an account. There, a required claim is needed before an account alone gives a principal. */
const OF_EVERYBODY: ReadonlySet<string> = new Set([
  GITHUB_ISSUER,
  'https://accounts.google.com',
  'https://appleid.apple.com',
  'https://api.login.yahoo.com',
  'https://gitlab.com',
  'https://id.twitch.tv/oauth2',
  'https://slack.com',
  'https://www.linkedin.com/oauth',
  // Microsoft accounts that belong to no organization.
  'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
]);

/** @throws PorticoError `validation_failed` if anybody could come in, or if the kind needs a secret or cannot have assertions */
function checked(provider: Provider): Provider {
  const { issuer, kind, settings, client_secret: secret } = provider;
  if (kind === 'github' && secret === null) {
    throw fieldProblem('client_secret', 'GitHub requires it');
  }
  if (settings.takes_assertions && kind !== 'oidc') {
    throw fieldProblem('takes_assertions', 'is only possible with the kind oidc');
  }
  const isOpen = settings.creates_principals && Object.keys(settings.required_claims).length === 0;
  if (!isOpen || !OF_EVERYBODY.has(new URL(issuer).href.replace(/\/$/, ''))) return provider;
  throw fieldProblem('required_claims', 'say who may sign in: anybody can have an account there');
}

export function createProviders({
  allowsLoopback,
  onAccessChanged,
  ...ports
}: ProviderPorts): Providers {
  return createEditedRecords(ports, {
    table: PROVIDERS,
    noun: 'sign_in_provider',
    missing: 'No such provider',
    filter: () => ALWAYS,
    onChanged: verb => (verb === 'create' ? undefined : onAccessChanged()),

    make(body: CreateProvider, _servers, stamp) {
      const { name, kind, issuer, client_id, client_secret, ...settings } = body;
      const isGithub = kind === 'github';
      if (isGithub !== (issuer === GITHUB_ISSUER)) {
        throw fieldProblem(
          'issuer',
          `${GITHUB_ISSUER} is only possible with the kind github, which needs it`,
        );
      }
      const address = decideAddress(issuer, allowsLoopback);
      if (!address.allowed) throw fieldProblem('issuer', address.reason);
      return checked({ ...stamp, name, kind, issuer, client_id, client_secret, settings });
    },

    edit(before, { name, client_id, client_secret, ...settings }: UpdateProvider) {
      const edited = patched(before, { name, client_id, client_secret });
      return checked({ ...edited, settings: patched(before.settings, settings) });
    },

    withEdit: ({ id }) => [endAsserted(ports.db, id)],

    whyNot: () =>
      new PorticoError(
        'conflict',
        `A provider has this name or issuer already, or there are ${MAX_PROVIDERS}`,
      ),
    toDetail: ({ name, kind, issuer, client_id, settings }) => ({
      name,
      kind,
      issuer,
      client_id,
      ...settings,
    }),
  });
}
