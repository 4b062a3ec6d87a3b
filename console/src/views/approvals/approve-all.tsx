/** Approves everything of a server: the dialog lists it, and approves the listed version. */
import { useRef, useState } from 'preact/hooks';
import { approveAll, listWaiting } from '../../api/approvals.ts';
import type { ApprovalPage } from '../../generated/types.gen.ts';
import { Loading, Problem } from '../../parts/states.tsx';
import { ActButton } from './act-button.tsx';
import type { Decide } from './decisions.ts';
import { isMisleading, nameOf, whyOf } from './why.ts';

interface ApproveAllProps {
  serverId: string;
  serverName: string;
  onDecide: Decide;
}

export function ApproveAll({ serverId, serverName, onDecide }: ApproveAllProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [page, setPage] = useState<ApprovalPage>();
  const [thrown, setThrown] = useState<unknown>();
  const [isOpen, setOpen] = useState(false);
  const label = `Approve all of ${serverName}…`;
  async function look(): Promise<void> {
    setPage(undefined);
    setThrown(undefined);
    try {
      setPage(await listWaiting(serverId));
    } catch (problem) {
      setThrown(problem);
    }
  }
  return (
    <>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          dialog.current?.showModal();
          setOpen(true);
          void look();
        }}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-label={label} onClose={() => setOpen(false)}>
        {thrown === undefined ? null : <Problem thrown={thrown} onRetry={() => void look()} />}
        {page ? <Listed page={page} /> : null}
        {!isOpen || page || thrown !== undefined ? null : <Loading />}
        <div class="actions">
          <ActButton
            label="Approve all"
            isDisabled={page?.version === undefined || page.approvals.every(isMisleading)}
            act={async () => {
              const version = page?.version ?? '';
              await onDecide('approve', () => approveAll(serverId, version));
              dialog.current?.close();
            }}
          />
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
        </div>
      </dialog>
    </>
  );
}

function Listed({ page: { approvals, total } }: { page: ApprovalPage }) {
  const left = approvals.filter(isMisleading);
  const approved = approvals.filter(approval => !isMisleading(approval));
  return (
    <>
      <p>
        As it is now, or not at all where something changes before. Open what you did not look at
        yet first.
      </p>
      <ul class="listed" role="region" aria-label="What is approved" tabIndex={0}>
        {approved.map(approval => (
          <li key={approval.id}>
            <bdi>{nameOf(approval)}</bdi> {whyOf(approval)}
          </li>
        ))}
      </ul>
      {total > approvals.length ? <p>… and {total - approvals.length} more that wait.</p> : null}
      {left.length === 0 ? null : (
        <p>
          Left, since their names mislead:{' '}
          {left.map(approval => (
            <bdi key={approval.id}>{nameOf(approval)} </bdi>
          ))}
        </p>
      )}
    </>
  );
}
