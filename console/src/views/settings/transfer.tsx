/** Exports the servers as a file, and links to the import. Says what the file leaves out. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { mayUse } from '../../api/me.ts';
import { exportRegistry, type RegistryExport } from '../../api/transfer.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { Problem } from '../../parts/states.tsx';
import { Told, useTelling } from '../../parts/told.tsx';
import { useAct } from '../../parts/use-act.ts';
import type { ViewProps } from '../../view-props.ts';

/** Long enough for every browser to start the download. */
const KEPT_MS = 60_000;

export function Transfer({ me }: ViewProps) {
  const { isBusy, thrown, run, place } = useAct<HTMLParagraphElement>();
  const [exported, setExported] = useState<RegistryExport>();
  const [telling, tell] = useTelling();
  const save = () =>
    run(async () => {
      const file = await exportRegistry();
      download('portico-servers.json', JSON.stringify(file, undefined, 2));
      setExported(file);
      const count = file.servers.length;
      tell(`A file with ${count} ${count === 1 ? 'server' : 'servers'} is saved.`);
    });
  return (
    <>
      <p>
        A file of the servers that this or another gateway can import. It contains no secrets:
        credentials are references to secrets.
      </p>
      <Told telling={telling} />
      {thrown === undefined ? null : <Problem thrown={thrown} />}
      {exported ? <LeftOut exported={exported} /> : null}
      <p ref={place} class="actions">
        <button type="button" disabled={isBusy} onClick={() => save()}>
          Save the servers as a file
        </button>
        {mayUse(me, 'servers:write') ? (
          <Link class="button quiet" href="/servers?add=file">
            Add servers from a file
          </Link>
        ) : null}
      </p>
      <p>
        All of the configuration, with people, rules and toolsets, is written by{' '}
        <code>portico export</code> and made so by <code>portico apply</code>, which show first what
        differs.
      </p>
    </>
  );
}

function LeftOut({ exported: { left_out: leftOut, secrets } }: { exported: RegistryExport }) {
  return (
    <>
      {leftOut.length > 0 ? (
        <>
          <p>Left out, since it was given as a value and not as a reference to a secret:</p>
          <ul>
            {leftOut.map(({ name, fields }) => (
              <li key={name}>
                {name}: <Foreign text={fields.join(', ')} max={500} />
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {secrets.length > 0 ? (
        <p>Another gateway needs these secrets first: {secrets.join(', ')}</p>
      ) : null}
    </>
  );
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
