/** A token in the list: its scopes, last use, expiry and actions. */
import { useState } from 'preact/hooks';
import { revokeToken, rotateToken } from '../../api/tokens.ts';
import type { IssuedToken, Token } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Select } from '../../parts/field.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Time } from '../../parts/time.tsx';

interface RowProps {
  token: Token;
  /** Names of servers by id, as far as known. */
  serverNames: ReadonlyMap<string, string>;
  onRotated: (token: IssuedToken) => void;
  onRevoked: () => Promise<void>;
  /** Called when the row is gone. */
  onGone: (name: string) => void;
}

export function TokenRow({ token, serverNames, onRotated, onRevoked, onGone }: RowProps) {
  const { id, name, last_used_at: used, former_expires_at: former, made_by: maker } = token;
  const revoke = async () => {
    await revokeToken(id);
    await onRevoked();
  };
  return (
    <tr>
      <th scope="row">
        <Foreign text={name} max={100} />
        {maker === null ? null : <span class="hint">made by its owner</span>}
      </th>
      <td>
        <Scopes token={token} />
      </td>
      <td class="limits">
        <Limits token={token} serverNames={serverNames} />
      </td>
      <td>{used === null ? 'never' : <Time at={used} />}</td>
      <td>
        <Ends token={token} />
        {former === null ? null : (
          <>
            {' '}
            <span class="hint">
              The old value works until <Time at={former} />
            </span>
          </>
        )}
      </td>
      <td>
        <div class="actions">
          {token.is_expired ? null : <Rotate token={token} onRotated={onRotated} />}
          <Confirm
            label="Revoke"
            says={`The token ${toShown(name, 100)} is refused everywhere within a second, and calls that run with it end. Browsers that signed in with it are signed out, and the tokens that its owner made with it end.`}
            act={revoke}
            onDone={() => onGone(name)}
          />
        </div>
      </td>
    </tr>
  );
}

const GRACES = [
  ['0', 'At once'],
  ['3600', 'In an hour'],
  ['86400', 'In a day'],
] as const;

function Rotate({ token, onRotated }: Pick<RowProps, 'token' | 'onRotated'>) {
  const [grace, setGrace] = useState<(typeof GRACES)[number][0]>('0');
  return (
    <Confirm
      label="New value"
      says={`The token ${toShown(token.name, 100)} gets a new value, which is shown once. What it may do stays the same.`}
      act={() => rotateToken(token.id, Number(grace))}
      onDone={onRotated}
    >
      <Select label="The old value ends" value={grace} options={GRACES} onValue={setGrace} />
    </Confirm>
  );
}

function Scopes({ token: { scopes, effective_scopes: effective } }: { token: Token }) {
  const idle = scopes.filter(scope => !effective.includes(scope));
  return (
    <>
      {effective.join(' ') || 'nothing'}
      {idle.length === 0 ? null : (
        <span class="hint"> not {idle.join(' ')}, which its principal may not</span>
      )}
    </>
  );
}

function Limits({ token, serverNames }: Pick<RowProps, 'token' | 'serverNames'>) {
  const { servers, tools, toolsets } = token;
  const parts = [
    ...(servers ?? []).map(id => serverNames.get(id) ?? id),
    ...(tools ?? []),
    ...(toolsets ?? []).map(id => `the toolset ${id}`),
  ];
  return parts.length === 0 ? null : <Foreign text={parts.join(', ')} max={300} />;
}

function Ends({ token: { expires_at: at, is_expired: isOver } }: { token: Token }) {
  if (at === null) return <>never</>;
  return isOver ? (
    <span class="badge bad">
      ended <Time at={at} />
    </span>
  ) : (
    <Time at={at} />
  );
}
