/** The form of a sign-in provider, new or edited. What was typed stays, whatever the gateway responds. */
import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { secretsQuery } from '../../api/secrets.ts';
import { Field, messageFor, Select } from '../../parts/field.tsx';
import { Form, type Sending } from '../../parts/form.tsx';
import { ProviderClaims } from './provider-claims.tsx';
import { findBadLine, GITHUB, type ProviderValues } from './provider-values.ts';
import { useFocus } from '../../parts/use-focus.ts';

interface FormProps extends Sending {
  values: ProviderValues;
  onValues: (values: ProviderValues) => void;
  /** The provider exists: its kind and issuer are fixed. */
  isKnown?: boolean;
}

const KINDS = [
  ['oidc', 'OpenID Connect: Okta, Entra, Google, Keycloak and others'],
  ['github', 'GitHub'],
  ['access', 'Cloudflare Access in front of the gateway'],
] as const;

export function ProviderForm(props: FormProps) {
  const { values, onValues, isKnown = false, ...sending } = props;
  const { onSend, thrown } = sending;
  const [hasTried, setTried] = useState(false);
  const first = useFocus<HTMLInputElement>(undefined, isKnown);
  const secrets = useQuery(secretsQuery()).data ?? [];
  const set = (more: Partial<ProviderValues>) => onValues({ ...values, ...more });
  const isBad =
    findBadLine(values.group_map, 'last') ?? findBadLine(values.required_claims, 'first');
  const text = (name: 'name' | 'issuer' | 'client_id' | 'client_secret', maxLength: number) => ({
    maxLength,
    spellcheck: false,
    value: values[name],
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      set({ [name]: currentTarget.value }),
  });
  return (
    <Form
      {...sending}
      onSend={() => {
        setTried(true);
        if (isBad === undefined) onSend();
      }}
    >
      {isKnown ? null : (
        <Select label="Kind" value={values.kind} options={KINDS} onValue={kind => set({ kind })} />
      )}
      <Field
        label="Name"
        wrong={messageFor(thrown, 'name')}
        hint="Its name on the button of the sign-in page"
      >
        {about => <input {...about} ref={first} required {...text('name', 60)} />}
      </Field>
      {isKnown || values.kind === 'github' ? null : (
        <Field
          label="Issuer"
          wrong={messageFor(thrown, 'issuer')}
          hint="The issuer exactly as the provider writes it: https://login.example.com"
        >
          {about => <input {...about} type="url" required {...text('issuer', 500)} />}
        </Field>
      )}
      <Field
        label={values.kind === 'access' ? 'Audience tag of the application' : 'Client id'}
        wrong={messageFor(thrown, 'client_id')}
      >
        {about => <input {...about} required {...text('client_id', 300)} />}
      </Field>
      {values.kind === 'access' ? null : (
        <Field
          label="Name of the secret"
          wrong={messageFor(thrown, 'client_secret')}
          hint="The client secret is kept among the secrets, with the origin of the provider’s token endpoint; here is its name"
        >
          {about => (
            <>
              <input
                {...about}
                list="provider-secrets"
                required={values.kind === 'github'}
                {...text('client_secret', 64)}
              />
              <datalist id="provider-secrets">
                {secrets.slice(0, 100).map(({ name }) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      )}
      <ProviderClaims values={values} onMore={set} thrown={thrown} hasTried={hasTried} />
      <Redirect kind={values.kind} />
    </Form>
  );
}

/** The redirect address to register at the provider. */
const Redirect = ({ kind }: Pick<ProviderValues, 'kind'>) =>
  kind === 'access' ? null : (
    <p class="hint">
      {kind === 'github' ? `The issuer is ${GITHUB}. ` : null}
      Register there as redirect address:{' '}
      <code class="foreign">{`${location.origin}/sign-in/callback`}</code>
    </p>
  );
