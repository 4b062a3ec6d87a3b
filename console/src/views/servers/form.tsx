/** The form of a server, new or edited. What was typed stays whatever the gateway answers. */
import type { ComponentChildren, ComponentProps } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import * as field from '../../parts/field.tsx';
import { Problem } from '../../parts/states.tsx';
import type { CredentialChoice, FormValues } from './form-values.ts';

interface FormProps {
  values: FormValues;
  onValues: (values: FormValues) => void;
  onSend: () => void;
  isBusy: boolean;
  /** What came of sending it. */
  thrown: unknown;
  /** On the button. */
  label: string;
  /** It is there already, so its credential can be kept; of a program only words are edited. */
  of?: 'server' | 'program';
  /** Beside the button. */
  children?: ComponentChildren;
}

const CREDENTIALS: readonly [choice: CredentialChoice, text: string][] = [
  ['keep', 'Keep it as it is'],
  ['none', 'None'],
  ['bearer', 'A bearer token'],
  ['header', 'A header'],
];
/** Where the API says that something is wrong with a field. */
const FIELDS = {
  name: ['name'],
  url: ['connection_config.url'],
  description: ['description'],
  transport: ['transport_type'],
  secret: ['connection_config.auth', 'connection_config.headers'],
  accounts: ['accounts'],
  approval: ['tool_approval'],
} as const;

export function ServerForm(props: FormProps) {
  const { values, onValues, onSend, isBusy, thrown, label, of: kind, children } = props;
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), [kind]);
  const set = (more: Partial<FormValues>) => onValues({ ...values, ...more });
  const messageOf = (key: keyof typeof FIELDS) => field.messageFor(thrown, ...FIELDS[key]);
  const takesSecret = values.credential === 'bearer' || values.credential === 'header';
  return (
    <form
      class="form server-form"
      autocomplete="off"
      onSubmit={event => {
        event.preventDefault();
        onSend();
      }}
    >
      <Field label="Name" wrong={messageOf('name')} hint="Its tools are called NAME.tool">
        {about => (
          <input
            {...about}
            ref={first}
            required
            maxLength={63}
            spellcheck={false}
            value={values.name}
            onInput={({ currentTarget }) => set({ name: currentTarget.value })}
          />
        )}
      </Field>
      {kind === 'program' ? null : (
        <Field
          label="Address"
          wrong={messageOf('url')}
          hint={
            kind === undefined
              ? 'As https://mcp.example.com/mcp'
              : 'At another origin the credential is not kept'
          }
        >
          {about => (
            <input
              {...about}
              type="url"
              required
              maxLength={2048}
              spellcheck={false}
              value={values.url}
              onInput={({ currentTarget }) => set({ url: currentTarget.value })}
            />
          )}
        </Field>
      )}
      <Field label="Description" wrong={messageOf('description')}>
        {about => (
          <textarea
            {...about}
            rows={2}
            maxLength={2000}
            value={values.description}
            onInput={({ currentTarget }) => set({ description: currentTarget.value })}
          />
        )}
      </Field>
      {kind === 'program' ? null : (
        <>
          <Select
            label="Credential"
            value={values.credential}
            options={CREDENTIALS.filter(([choice]) => kind !== undefined || choice !== 'keep')}
            onValue={credential => set({ credential })}
          />
          {values.credential === 'header' ? (
            <Field label="Name of the header">
              {about => (
                <input
                  {...about}
                  required
                  maxLength={128}
                  spellcheck={false}
                  value={values.header}
                  onInput={({ currentTarget }) => set({ header: currentTarget.value })}
                />
              )}
            </Field>
          ) : null}
          {takesSecret ? (
            <Field
              label={values.credential === 'bearer' ? 'Token' : 'Value of the header'}
              wrong={messageOf('secret')}
              hint={'Stored sealed and never shown again. ${NAME} stands for a secret.'}
            >
              {about => (
                <input
                  {...about}
                  type="password"
                  required
                  autocomplete="new-password"
                  spellcheck={false}
                  value={values.secret}
                  onInput={({ currentTarget }) => set({ secret: currentTarget.value })}
                />
              )}
            </Field>
          ) : null}
          <Select
            label="Accounts"
            value={values.accounts}
            wrong={messageOf('accounts')}
            options={[
              ['shared', 'All calls use the credential above'],
              ['per_principal', 'Each user connects an account of their own'],
              ['both', 'Their own where they have one, else the credential above'],
            ]}
            onValue={accounts => set({ accounts })}
          />
          <Select
            label="Transport"
            value={values.transport}
            wrong={messageOf('transport')}
            options={[
              ['HTTP', 'Streamable HTTP'],
              ['SSE', 'HTTP+SSE, of older servers'],
            ]}
            onValue={transport => set({ transport })}
          />
        </>
      )}
      <Select
        label="Approval of its tools"
        value={values.approval}
        wrong={messageOf('approval')}
        options={[
          ['', 'As the deployment has it'],
          ['first', 'Those it has first are approved; new and changed ones are held'],
          ['hold', 'All are held until somebody approves them'],
          ['trust', 'All are approved as they come'],
        ]}
        onValue={approval => set({ approval })}
      />
      {thrown === undefined ? null : <Problem thrown={thrown} />}
      <p class="actions">
        <button type="submit" disabled={isBusy}>
          {label}
        </button>
        {children}
      </p>
    </form>
  );
}

const toId = (label: string) => `server-${label.toLowerCase().replaceAll(' ', '-')}`;

const Field = (props: ComponentProps<typeof field.Field>) => (
  <field.Field {...props} id={toId(props.label)} />
);

function Select<T extends string>(props: ComponentProps<typeof field.Select<T>>) {
  return <field.Select {...props} id={toId(props.label)} />;
}
