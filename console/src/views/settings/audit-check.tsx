/** Checks whether every chain of the audit is as it was written. Shows each chain's last row, to be noted elsewhere. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { checkAll, type Checked } from '../../api/audit-check.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Problem } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAct } from '../../parts/use-act.ts';

interface Progress {
  done: readonly Checked[];
  total: number;
  /** Checked rows of the current chain. */
  rows: number;
}

const COLUMNS = ['Chain', 'Checked', 'State', 'Last row, keep a copy elsewhere'];

export function AuditCheck() {
  const { isBusy, thrown, run, place } = useAct<HTMLParagraphElement>();
  const [progress, setProgress] = useState<Progress>();
  const [telling, tell] = useTelling();
  const running = useRef<AbortController>();
  useEffect(() => () => running.current?.abort(), []);
  const check = () =>
    run(async () => {
      const stop = new AbortController();
      running.current = stop;
      tell();
      setProgress(undefined);
      const found = await checkAll(
        (done, total, rows) => setProgress({ done, total, rows }),
        stop.signal,
      );
      const broken = found.filter(({ brokenAt }) => brokenAt !== undefined);
      tell(
        broken.length === 0
          ? `All ${found.length} chains are unaltered.`
          : `${broken.length} of ${found.length} chains were altered.`,
      );
    });
  return (
    <>
      <p>
        Rows of the audit form chains, so what was changed or deleted shows. Whoever can write the
        database could write a whole chain anew: that shows where its last row was noted elsewhere.
      </p>
      <Told telling={telling} />
      {thrown === undefined ? null : <Problem thrown={thrown} />}
      <p ref={place} class="actions">
        <button type="button" disabled={isBusy} onClick={() => check()}>
          Check every chain
        </button>
      </p>
      {isBusy ? (
        <p role="status">
          {progress
            ? `${progress.done.length} of ${progress.total} chains, ${progress.rows} rows of the next`
            : 'Checking…'}
        </p>
      ) : null}
      {progress && progress.done.length > 0 ? <Chains done={progress.done} /> : null}
    </>
  );
}

const Chains = ({ done }: { done: readonly Checked[] }) => (
  <Table label="Chains" columns={COLUMNS}>
    {done.map(({ shard, rows, brokenAt, head }) => (
      <tr key={shard}>
        <th scope="row">
          <Foreign text={shard} max={120} />
        </th>
        <td>{rows}</td>
        <td>
          {brokenAt === undefined ? (
            <span class="badge good">whole</span>
          ) : (
            <span class="badge bad">broken from {brokenAt} on</span>
          )}
        </td>
        <td class="sentence">
          {head.seq} <code class="hash">{head.hash}</code>
        </td>
      </tr>
    ))}
  </Table>
);
