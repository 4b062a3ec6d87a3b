/** One held definition: it can be picked, and opened to see its differences and decide on it. */
import { useQuery } from '@tanstack/preact-query';
import { useRef } from 'preact/hooks';
import { approvalQuery, decide, type Looked, type Verb } from '../../api/approvals.ts';
import type { Approval } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { ActButton } from './act-button.tsx';
import type { Decide } from './decisions.ts';
import { Diff } from './diff.tsx';
import { isMisleading, nameOf, whyOf } from './why.ts';

interface RowProps {
  approval: Approval;
  mayDecide: boolean;
  isPicked: boolean;
  isOpen: boolean;
  onPick: (isPicked: boolean) => void;
  onOpen: (isOpen: boolean) => void;
  onDecide: Decide;
}

export function ApprovalRow(props: RowProps) {
  const { approval, mayDecide, isPicked, isOpen, onPick, onOpen } = props;
  const name = nameOf(approval);
  const misleads = isMisleading(approval);
  return (
    <li>
      {mayDecide ? (
        <input
          type="checkbox"
          aria-label={misleads ? `${name} can only be approved alone` : `Pick ${name}`}
          checked={isPicked}
          disabled={misleads}
          onChange={({ currentTarget }) => onPick(currentTarget.checked)}
        />
      ) : null}
      <details open={isOpen}>
        <summary
          onClick={event => {
            event.preventDefault();
            onOpen(!isOpen);
          }}
        >
          <bdi class="name">{name}</bdi>{' '}
          <span class={misleads ? 'badge bad' : 'badge'}>
            {misleads ? 'misleads' : approval.state}
          </span>{' '}
          <span class="faint">
            {whyOf(approval)}, <Time at={approval.changed_at} />
          </span>
        </summary>
        {isOpen ? <Whole {...props} /> : null}
      </details>
    </li>
  );
}

/** Both definitions. A decision applies to the one that is shown. */
function Whole({ approval, mayDecide, onDecide }: RowProps) {
  const { id, held_fingerprint: held } = approval;
  const first = useRef(held);
  const whole = useQuery(approvalQuery(id, held));
  if (whole.error) return <Problem thrown={whole.error} onRetry={() => void whole.refetch()} />;
  if (!whole.data) return <Loading />;
  const { data } = whole;
  return (
    <>
      {data.held_fingerprint === first.current ? null : (
        <p class="notice" role="status">
          It changed while you were reading. This is what waits now.
        </p>
      )}
      <p class="faint">
        Fingerprint <code>{data.held_fingerprint ?? 'none'}</code>
      </p>
      <Diff whole={data} />
      {mayDecide ? <Decisions approval={data} onDecide={onDecide} /> : null}
    </>
  );
}

function Decisions({ approval, onDecide }: Pick<RowProps, 'approval' | 'onDecide'>) {
  const looked = toLooked(approval);
  if (!looked) return <p>There is no definition of it to decide on.</p>;
  const act = (verb: Verb, accepts = false) =>
    onDecide(verb, () => decide(verb, [looked], accepts));
  const name = nameOf(approval);
  return (
    <div class="actions">
      {isMisleading(approval) ? (
        <Confirm
          label="Approve in spite of its name"
          says={`${name} ${whyOf(approval)}. Models and people can call it where they mean another tool.`}
          agrees="I compared the name, and want this tool"
          act={() => act('approve', true)}
        />
      ) : (
        <ActButton label="Approve" act={() => act('approve')} />
      )}
      {approval.state === 'rejected' ? null : (
        <ActButton label="Reject" isQuiet act={() => act('reject')} />
      )}
    </div>
  );
}

/** Identifies a definition in a decision; undefined where none waits. */
export function toLooked(approval: Approval): Looked | undefined {
  const { server_id, kind, name, held_fingerprint: fingerprint } = approval;
  return fingerprint === null ? undefined : { server_id, kind, name, fingerprint };
}
