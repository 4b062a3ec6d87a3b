/** A server is edited. Where somebody else edited it meanwhile, nothing of theirs is lost unseen, and nothing that was typed here. */
import { useQueryClient } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { ApiProblem } from '../../api/request.ts';
import { readServer, updateServer } from '../../api/servers.ts';
import type { Server } from '../../generated/types.gen.ts';
import { rebase, toUpdate, valuesOf } from './form-values.ts';
import { ServerForm } from './form.tsx';

interface EditProps {
  server: Server;
  onDone: () => void;
}

export function EditServer({ server, onDone }: EditProps) {
  const cache = useQueryClient();
  // What is edited is the server as it was when the form was opened, whatever is shown beside it.
  const [base, setBase] = useState(server);
  const [values, setValues] = useState(() => valuesOf(server));
  const [isBusy, setBusy] = useState(false);
  const [thrown, setThrown] = useState<unknown>();
  const [theirs, setTheirs] = useState<readonly string[]>();

  async function save(): Promise<void> {
    setBusy(true);
    setThrown(undefined);
    setTheirs(undefined);
    try {
      const saved = await updateServer(base.id, toUpdate(valuesOf(base), values), base.revision);
      cache.setQueryData(['servers', 'one', base.id], saved);
      void cache.invalidateQueries({ queryKey: ['servers'] });
      onDone();
    } catch (problem) {
      await explain(problem).catch(setThrown);
    } finally {
      setBusy(false);
    }
  }

  async function explain(problem: unknown): Promise<void> {
    if (!(problem instanceof ApiProblem) || problem.status !== 412) throw problem;
    const now = await readServer(base.id);
    const merged = rebase(valuesOf(base), values, valuesOf(now));
    cache.setQueryData(['servers', 'one', base.id], now);
    setBase(now);
    setValues(merged.values);
    setTheirs(merged.theirs);
  }

  return (
    <ServerForm
      values={values}
      onValues={setValues}
      onSend={() => void save()}
      isBusy={isBusy}
      thrown={thrown}
      label={theirs ? 'Save over it' : 'Save'}
      of={base.transport_type === 'STDIO' ? 'program' : 'server'}
    >
      <button type="button" class="quiet" onClick={onDone}>
        Cancel
      </button>
      {theirs ? (
        <span role="alert" class="problem">
          Somebody else changed this server meanwhile
          {theirs.length > 0 ? ` (${theirs.join(', ')})` : ''}. What you typed is kept; nothing is
          saved yet.
        </span>
      ) : null}
    </ServerForm>
  );
}
