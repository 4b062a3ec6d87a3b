/** The form of a server, new or edited. What was typed stays whatever the gateway answers. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiProblem } from '../../api/request.ts';
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
  useEffect(() => {
    if (kind !== undefined) first.current?.focus();
  }, [kind]);
  const set = (more: Partial<FormValues>) => onValues({ ...values, ...more });
  const wrong = thrown instanceof ApiProblem ? thrown.fields : [];
  const messageOf = (key: keyof typeof FIELDS) =>
    wrong.find(({ field }) =>
      FIELDS[key].some(name => field === name || field.startsWith(`${name}.`)),
    )?.message;
  const takesSecret = values.credential === 'bearer' || values.credential === 'header';
  return (
    <form
      class="server-form"
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

interface FieldProps {
  label: string;
  wrong?: string | undefined;
  hint?: string;
  children: (about: Record<string, string | boolean>) => ComponentChildren;
}

function Field({ label, wrong, hint, children }: FieldProps) {
  const id = `server-${label.toLowerCase().replaceAll(' ', '-')}`;
  const described = [wrong && `${id}-wrong`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div>
      <label for={id}>{label}</label>
      {children({
        id,
        ...(wrong ? { 'aria-invalid': 'true' } : {}),
        ...(described ? { 'aria-describedby': described } : {}),
      })}
      {wrong ? (
        <p id={`${id}-wrong`} class="wrong">
          {wrong}
        </p>
      ) : null}
      {hint ? (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      ) : null}
    </div>
  );
}

interface SelectProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [value: T, text: string])[];
  wrong?: string | undefined;
  onValue: (value: T) => void;
}

function Select<T extends string>({ label, value, options, wrong, onValue }: SelectProps<T>) {
  return (
    <Field label={label} wrong={wrong}>
      {about => (
        <select
          {...about}
          value={value}
          onChange={({ currentTarget }) => onValue(currentTarget.value as T)}
        >
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
