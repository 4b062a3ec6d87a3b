/** One server: its state, problem and advice, its health over time, its tools and actions. */
import { useQuery, useQueryClient } from '@tanstack/preact-query';
import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { mayUse, type Me } from '../../api/me.ts';
import { connectServer, deleteServer, disconnectServer, serverQuery } from '../../api/servers.ts';
import type { Server } from '../../generated/types.gen.ts';
import { boxOf } from '../../parts/box.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Heading } from '../../parts/heading.tsx';
import { Opening } from '../../parts/opening.tsx';
import { Problem } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { adviceFor } from './advice.ts';
import { EditServer } from './edit.tsx';
import { Health } from './health.tsx';
import { StatusBadge } from './status.tsx';
import { ServerTools } from './tools.tsx';

interface DetailsProps {
  id: string;
  me: Me;
  mayWrite: boolean;
  onDeleted: (name: string) => void;
}

const BACK = ['/servers', 'All servers'] as const;

export function ServerDetails({ id, me, mayWrite, onDeleted }: DetailsProps) {
  // After a deletion here, the server is no longer requested: an announced change could come before the response.
  const [isDeleted, setDeleted] = useState(false);
  const found = useQuery({ ...serverQuery(id), enabled: !isDeleted });
  const [isEdited, setEdited] = useState(false);
  const editButton = useRef<HTMLButtonElement>(null);
  const server = found.data;
  const thrown = found.error ? (
    <Problem thrown={found.error} onRetry={() => void found.refetch()} />
  ) : null;
  if (!server) return <Opening back={BACK} found={found} />;
  const endEdit = () => {
    setEdited(false);
    editButton.current?.focus();
  };
  return (
    <>
      <Heading back={BACK}>{server.name}</Heading>
      {thrown}
      <Outcome server={server} />
      {mayWrite ? (
        <Acts
          server={server}
          editButton={editButton}
          onEdit={() => setEdited(true)}
          setDeleted={setDeleted}
          onDeleted={() => onDeleted(server.name)}
        />
      ) : null}
      {isEdited ? <EditServer server={server} onDone={endEdit} /> : null}
      <Facts server={server} />
      <Health id={id} isAsked={!isDeleted} />
      {mayUse(me, 'tools:read') ? <ServerTools server={server} isAsked={!isDeleted} /> : null}
    </>
  );
}

/** The outcome of connecting it. */
function Outcome({ server }: { server: Server }) {
  const { id, status, tool_count: tools, held_tools: held, last_error: why } = server;
  const advice = adviceFor(server);
  const holds = `${held} of its tools or instructions wait for an approval.`;
  return (
    <div class="outcome" role="status">
      <p>
        <StatusBadge status={status} />{' '}
        {status === 'CONNECTING' ? 'The gateway reads its lists…' : null}
        {status === 'DISCONNECTED' ? 'Its tools are not offered to anybody.' : null}
        {status === 'CONNECTED' || status === 'DEGRADED' ? toCount(tools) : null}
      </p>
      {advice ? (
        <div class="notice">
          <p>
            <strong>{advice.says}</strong> {advice.todo}
          </p>
          {why === null ? null : (
            <details>
              <summary>What the gateway found</summary>
              <p {...boxOf(why)}>
                <Foreign text={why} />
              </p>
            </details>
          )}
        </div>
      ) : null}
      {held > 0 ? (
        <p>
          {holds} <Link href={`/approvals?server=${encodeURIComponent(id)}`}>Look at them</Link>
        </p>
      ) : null}
    </div>
  );
}

const toCount = (tools: number) => (tools === 1 ? 'It has 1 tool.' : `It has ${tools} tools.`);

interface ActsProps {
  server: Server;
  editButton: RefObject<HTMLButtonElement>;
  onEdit: () => void;
  /** Reports that the deletion has begun, or has failed. */
  setDeleted: (isDeleted: boolean) => void;
  onDeleted: () => void;
}

function Acts({ server, editButton, onEdit, setDeleted, onDeleted }: ActsProps) {
  const cache = useQueryClient();
  const [thrown, setThrown] = useState<unknown>();
  const { id, name, status, tool_count: tools } = server;
  const refresh = () => void cache.invalidateQueries({ queryKey: ['servers'] });
  /** The button that was pressed disappears. */
  const changed = () => {
    editButton.current?.focus();
    refresh();
  };
  const connect = () => {
    setThrown(undefined);
    connectServer(id).then(changed, setThrown);
  };
  const remove = async () => {
    setDeleted(true);
    try {
      await cache.cancelQueries({ queryKey: ['servers'] });
      await deleteServer(id);
    } catch (problem) {
      setDeleted(false);
      throw problem;
    }
  };
  const leave = () => {
    onDeleted();
    cache.removeQueries({ queryKey: ['servers', 'one', id] });
    refresh();
  };
  const isUp = status !== 'DISCONNECTED';
  return (
    <>
      <p class="actions">
        <button ref={editButton} type="button" class="quiet" onClick={onEdit}>
          Edit
        </button>
        {status === 'DISCONNECTED' || status === 'ERROR' ? (
          <button type="button" class="quiet" onClick={connect}>
            {isUp ? 'Try again now' : 'Connect'}
          </button>
        ) : null}
        {isUp ? (
          <Confirm
            label="Disconnect"
            says={`The tools of ${name} disappear for everybody at once, until it is connected again. Running calls have 30 seconds to end.`}
            act={() => disconnectServer(id)}
            onDone={changed}
          />
        ) : null}
        <Confirm
          label="Delete"
          says={`${name} ends for everybody and cannot be brought back: its ${tools} tools, its credential, what was approved of it, its health over time, and the accounts that people have at it.`}
          act={remove}
          onDone={leave}
        />
        <Link class="button quiet" href="/servers?add=one">
          Add another
        </Link>
      </p>
      {thrown === undefined ? null : <Problem thrown={thrown} />}
    </>
  );
}

const ACCOUNTS: Readonly<Record<Server['accounts'], string>> = {
  shared: 'all calls use the credential of the server',
  per_principal: 'each user connects their own',
  both: 'their own, else the credential of the server',
};
const APPROVAL: Readonly<Record<string, string>> = {
  first: 'the first tools are approved, later ones held',
  hold: 'all tools are held until they are approved',
  trust: 'all tools are approved as they come',
};

function Facts({ server }: { server: Server }) {
  const { connection_config: config, description, tool_approval: approval } = server;
  const place =
    config.server === undefined ? config.url : `the program ${config.server} of a connector`;
  return (
    <dl class="facts">
      <dt>Address</dt>
      <dd>
        <Foreign text={place} />
      </dd>
      {description === '' ? null : (
        <>
          <dt>Description</dt>
          <dd {...boxOf(description)}>
            <Foreign text={description} />
          </dd>
        </>
      )}
      <dt>Credential</dt>
      <dd>{credentialOf(config)}</dd>
      <dt>Accounts</dt>
      <dd>{ACCOUNTS[server.accounts]}</dd>
      <dt>Approval</dt>
      <dd>{approval === null ? 'as the deployment is configured' : APPROVAL[approval]}</dd>
      <dt>Protocol</dt>
      <dd>{server.protocol_version ?? 'not known yet'}</dd>
      <dt>Edited</dt>
      <dd>
        <Time at={server.updated_at} />
      </dd>
    </dl>
  );
}

const AUTH = {
  bearer: 'a bearer token',
  client_credentials: 'a client with a secret',
  authorization_code: 'a client by which users sign in',
} as const;

function credentialOf({ auth, headers }: Server['connection_config']): string {
  const names = Object.keys(headers);
  const parts = [
    ...(auth ? [AUTH[auth.type]] : []),
    ...(names.length > 0 ? [`headers: ${names.join(', ')}`] : []),
  ];
  return parts.length > 0 ? parts.join('; ') : 'none';
}
