/** The form of a principal's new token. */
import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import type { Me } from '../../api/me.ts';
import { serversNamed } from '../../api/suggestions.ts';
import { createToken } from '../../api/tokens.ts';
import type { IssuedToken, Principal } from '../../generated/types.gen.ts';
import { messageFor, Select, Text } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { itemsOf, toDraft, type ListDraft } from '../../parts/list-draft.ts';
import { ListField } from '../../parts/list-field.tsx';
import { useAct } from '../../parts/use-act.ts';
import { EXPIRIES, toExpiresAt, type Expiry } from './expiry.ts';
import { ScopeChoice } from './scope-choice.tsx';
import { MEMBER_SCOPES, scopesToGive, within } from './scopes.ts';
import { useFocus } from '../../parts/use-focus.ts';

interface NewTokenProps {
  me: Me;
  principal: Principal;
  onMade: (token: IssuedToken) => void;
  onCancel: () => void;
}

const NO_LIMITS: Readonly<Record<'servers' | 'tools' | 'toolsets', ListDraft>> = {
  servers: toDraft([]),
  tools: toDraft([]),
  toolsets: toDraft([]),
};

export function NewToken({ me, principal, onMade, onCancel }: NewTokenProps) {
  const offered = within(scopesToGive(me), principal.scopes);
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState(() => within(MEMBER_SCOPES, principal.scopes));
  const [expiry, setExpiry] = useState<Expiry>('90');
  const [day, setDay] = useState('');
  const [limits, setLimits] = useState(NO_LIMITS);
  const { isBusy, thrown, run } = useAct();
  const first = useFocus<HTMLInputElement>();
  const make = async () => {
    const expires = toExpiresAt(expiry, day, Date.now());
    const given = Object.entries(limits)
      .map(([key, draft]) => [key, itemsOf(draft)] as const)
      .filter(([, items]) => items.length > 0);
    const made = await createToken({
      name: name.trim(),
      principal: principal.id,
      scopes,
      ...(expires === undefined ? {} : { expires_at: expires }),
      ...Object.fromEntries(given),
    });
    onMade(made);
  };
  return (
    <Form
      label="A new token"
      onSend={() => run(make)}
      isBusy={isBusy}
      thrown={thrown}
      verb="Make it"
      cancel={onCancel}
    >
      <Text
        label="Name of the token"
        wrong={messageFor(thrown, 'name')}
        hint="Where it is used, as laptop"
        inputRef={first}
        isRequired
        maxLength={100}
        value={name}
        onValue={setName}
        isCode
      />
      <ScopeChoice
        label="It may"
        offered={offered}
        value={scopes}
        wrong={messageFor(thrown, 'scopes')}
        onValue={setScopes}
      />
      <Select label="It ends" value={expiry} options={EXPIRIES} onValue={setExpiry} />
      {expiry === 'day' ? (
        <Text
          label="Last day"
          wrong={messageFor(thrown, 'expires_at')}
          type="date"
          isRequired
          value={day}
          onValue={setDay}
        />
      ) : null}
      <Limits limits={limits} onLimits={setLimits} thrown={thrown} />
    </Form>
  );
}

interface LimitsProps {
  limits: typeof NO_LIMITS;
  onLimits: (limits: typeof NO_LIMITS) => void;
  thrown: unknown;
}

function Limits({ limits, onLimits, thrown }: LimitsProps) {
  const servers = useQuery(serversNamed('')).data?.servers ?? [];
  return (
    <details>
      <summary>Limit it to some servers or tools</summary>
      <ListField
        label="Only these servers"
        draft={limits.servers}
        offered={servers.map(each => each.name)}
        wrong={messageFor(thrown, 'servers')}
        onDraft={draft => onLimits({ ...limits, servers: draft })}
      />
      <ListField
        label="Only these tools"
        draft={limits.tools}
        offered={servers.map(each => `${each.name}.*`)}
        wrong={messageFor(thrown, 'tools')}
        hint="As server.tool; * stands for anything"
        onDraft={draft => onLimits({ ...limits, tools: draft })}
      />
      <ListField
        label="Only these toolsets"
        draft={limits.toolsets}
        wrong={messageFor(thrown, 'toolsets')}
        onDraft={draft => onLimits({ ...limits, toolsets: draft })}
      />
    </details>
  );
}
