/** The form of a server, new or edited. What was typed stays, whatever the gateway responds. */
import type { ComponentProps } from 'preact';
import * as field from '../../parts/field.tsx';
import { Form, type Sending } from '../../parts/form.tsx';
import type { CredentialChoice, FormValues } from './form-values.ts';
import { useFocus } from '../../parts/use-focus.ts';

interface FormProps extends Sending {
  values: FormValues;
  onValues: (values: FormValues) => void;
  /** Set for an existing server, whose credential can be kept; for a program only its texts can be edited. */
  of?: 'server' | 'program';
}

const CREDENTIALS: readonly [choice: CredentialChoice, text: string][] = [
  ['keep', 'Keep it as it is'],
  ['none', 'None'],
  ['bearer', 'A bearer token'],
  ['header', 'A header'],
];
/** The API's field names for error messages. */
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
  const { values, onValues, of: kind, ...sending } = props;
  const first = useFocus<HTMLInputElement>(kind);
  const set = (more: Partial<FormValues>) => onValues({ ...values, ...more });
  const messageOf = (key: keyof typeof FIELDS) => field.messageFor(sending.thrown, ...FIELDS[key]);
  const takesSecret = values.credential === 'bearer' || values.credential === 'header';
  return (
    <Form {...sending} class="server-form">
      <Text
        label="Name"
        wrong={messageOf('name')}
        hint="Its tools are called NAME.tool"
        inputRef={first}
        isRequired
        maxLength={63}
        value={values.name}
        onValue={name => set({ name })}
        isCode
      />
      {kind === 'program' ? null : (
        <Text
          label="Address"
          wrong={messageOf('url')}
          hint={
            kind === undefined
              ? 'As https://mcp.example.com/mcp'
              : 'At another origin the credential is not kept'
          }
          type="url"
          isRequired
          maxLength={2048}
          value={values.url}
          onValue={url => set({ url })}
          isCode
        />
      )}
      <Text
        label="Description"
        wrong={messageOf('description')}
        rows={2}
        maxLength={2000}
        value={values.description}
        onValue={description => set({ description })}
      />
      {kind === 'program' ? null : (
        <>
          <Select
            label="Credential"
            value={values.credential}
            options={CREDENTIALS.filter(([choice]) => kind !== undefined || choice !== 'keep')}
            onValue={credential => set({ credential })}
          />
          {values.credential === 'header' ? (
            <Text
              label="Name of the header"
              isRequired
              maxLength={128}
              value={values.header}
              onValue={header => set({ header })}
              isCode
            />
          ) : null}
          {takesSecret ? (
            <Text
              label={values.credential === 'bearer' ? 'Token' : 'Value of the header'}
              wrong={messageOf('secret')}
              hint={'Stored sealed and never shown again. ${NAME} stands for a secret.'}
              type="password"
              isRequired
              value={values.secret}
              onValue={secret => set({ secret })}
              isCode
            />
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
          ['', 'As the deployment is configured'],
          ['first', 'Those it has first are approved; new and changed ones are held'],
          ['hold', 'All are held until somebody approves them'],
          ['trust', 'All are approved as they come'],
        ]}
        onValue={approval => set({ approval })}
      />
    </Form>
  );
}

const toId = (label: string) => `server-${label.toLowerCase().replaceAll(' ', '-')}`;

const Text = (props: ComponentProps<typeof field.Text>) => (
  <field.Text {...props} id={toId(props.label)} />
);

function Select<T extends string>(props: ComponentProps<typeof field.Select<T>>) {
  return <field.Select {...props} id={toId(props.label)} />;
}
