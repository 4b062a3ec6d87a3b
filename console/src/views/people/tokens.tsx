/** The tokens of a principal: create, rotate, revoke. A token's value is shown once, and only kept in this component's memory. */
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useRef, useState } from 'preact/hooks';
import type { Me } from '../../api/me.ts';
import { serversNamed } from '../../api/suggestions.ts';
import { tokenListQuery } from '../../api/tokens.ts';
import type { IssuedToken, Principal, Token } from '../../generated/types.gen.ts';
import { toShown } from '../../parts/foreign.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, type Telling } from '../../parts/told.tsx';
import { NewToken } from './new-token.tsx';
import { TokenRow } from './token-row.tsx';

/** The last created token, until it is dismissed. */
type Issued = Pick<IssuedToken, 'id' | 'name' | 'token'>;

export function Tokens({ me, principal }: { me: Me; principal: Principal }) {
  const cache = useQueryClient();
  const list = useInfiniteQuery(tokenListQuery(principal.id));
  const [isMaking, setMaking] = useState(false);
  const [issued, setIssued] = useState<Issued>();
  const [telling, setTelling] = useState<Telling>();
  const heading = useRef<HTMLHeadingElement>(null);
  const toHeading = () => heading.current?.focus();
  const refresh = async () => {
    await cache.invalidateQueries({ queryKey: ['tokens'] });
    await cache.invalidateQueries({ queryKey: ['principals'] });
  };
  const show = ({ id, name, token }: IssuedToken) => {
    setIssued({ id, name, token });
    setMaking(false);
    setTelling(undefined);
    void refresh();
  };
  const putAway = () => {
    setIssued(undefined);
    toHeading();
  };
  return (
    <section>
      <h2 ref={heading} tabIndex={-1}>
        Tokens
      </h2>
      {issued ? (
        <ShownOnce
          key={issued.token}
          label={`Value of the token ${toShown(issued.name, 100)}`}
          value={issued.token}
          says="Whoever has it acts as this principal. Put it where the program reads it."
          onDone={putAway}
        />
      ) : null}
      {isMaking ? (
        <NewToken
          me={me}
          principal={principal}
          onMade={show}
          onCancel={() => {
            setMaking(false);
            toHeading();
          }}
        />
      ) : (
        <p class="actions">
          <button type="button" class="quiet" onClick={() => setMaking(true)}>
            Make a token
          </button>
        </p>
      )}
      <Told telling={telling} />
      <PagedList list={list} itemsOf={page => page.tokens} none="It has no token.">
        {tokens => (
          <TokenTable
            tokens={tokens}
            onRotated={show}
            onRevoked={refresh}
            onGone={name => setTelling({ text: `The token ${toShown(name, 100)} is revoked.` })}
          />
        )}
      </PagedList>
    </section>
  );
}

interface TableProps {
  tokens: readonly Token[];
  onRotated: (token: IssuedToken) => void;
  onRevoked: () => Promise<void>;
  onGone: (name: string) => void;
}

const COLUMNS = ['Name', 'It may', 'Only', 'Last used', 'Ends', { hidden: 'What can be done' }];

function TokenTable({ tokens, ...told }: TableProps) {
  const hasLimits = tokens.some(({ servers }) => servers !== null);
  const known = useQuery({ ...serversNamed(''), enabled: hasLimits }).data?.servers ?? [];
  const names = new Map(known.map(({ id, name }) => [id, name]));
  return (
    <Table label="Tokens" columns={COLUMNS}>
      {tokens.map(token => (
        <TokenRow key={token.id} token={token} serverNames={names} {...told} />
      ))}
    </Table>
  );
}
