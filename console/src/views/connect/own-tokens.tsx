/** The signed-in user's tokens: rights, last use, expiry, and revocation. */
import { useInfiniteQuery, useQueryClient } from '@tanstack/preact-query';
import { revokeToken, tokenListQuery } from '../../api/tokens.ts';
import type { Token } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { More } from '../../parts/more.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Empty, Loading, Problem } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { toRights } from './rights.ts';

interface OwnTokensProps {
  principal: string;
  /** Id of the token behind this sign-in; revoking it signs the browser out. */
  current: string;
  onRevoked(name: string): void;
}

const COLUMNS = ['Token', 'May', 'Made', 'Used last', 'Ends', { hidden: 'Acts' }];

export function OwnTokens({ principal, current, onRevoked }: OwnTokensProps) {
  const cache = useQueryClient();
  const list = useInfiniteQuery(tokenListQuery(principal));
  const problem = list.error ? (
    <Problem thrown={list.error} onRetry={() => void list.refetch()} />
  ) : null;
  if (!list.data) return problem ?? <Loading />;
  const tokens = list.data.pages.flatMap(page => page.tokens);
  const total = list.data.pages[0]?.total ?? 0;
  if (tokens.length === 0) return problem ?? <Empty>You have none.</Empty>;
  function forget({ name }: Token): void {
    void cache.invalidateQueries({ queryKey: ['tokens'] });
    onRevoked(name);
  }
  return (
    <>
      {problem}
      <p class="empty">
        {tokens.length} of {total}
      </p>
      <Table label="Your tokens" columns={COLUMNS}>
        {tokens.map(token => (
          <Row
            key={token.id}
            token={token}
            isCurrent={token.id === current}
            onRevoked={() => forget(token)}
          />
        ))}
      </Table>
      <More list={list} />
    </>
  );
}

interface RowProps {
  token: Token;
  isCurrent: boolean;
  onRevoked(): void;
}

function Row({ token, isCurrent, onRevoked }: RowProps) {
  const { name, created_at: made, last_used_at: used, expires_at: ends } = token;
  const says = `Whatever uses the token ${toShown(name, 60)} is refused within a second, and so are the tokens that were made with it.`;
  return (
    <tr>
      <th scope="row">
        <Foreign text={name} max={60} />{' '}
        {isCurrent ? <span class="badge">this sign-in</span> : null}
      </th>
      <td>{toRights(token)}</td>
      <td>
        <Time at={made} />
      </td>
      <td>{used === null ? 'never' : <Time at={used} />}</td>
      <td>
        {ends === null ? 'not by itself' : <Time at={ends} />}{' '}
        {token.is_expired ? <span class="badge bad">ended</span> : null}
      </td>
      <td>
        <Confirm
          label="Revoke"
          says={isCurrent ? `${says} You are signed out.` : says}
          act={() => revokeToken(token.id)}
          onDone={onRevoked}
        />
      </td>
    </tr>
  );
}
