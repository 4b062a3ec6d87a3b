/** Adds several servers from a client's file. A plan is shown before anything is done. */
import { useQueryClient } from '@tanstack/preact-query';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { importServers, type OnConflict } from '../../api/servers.ts';
import type { Import } from '../../generated/types.gen.ts';
import { Heading } from '../../parts/heading.tsx';
import { Problem } from '../../parts/states.tsx';
import { useHeldFocus } from '../../parts/use-held-focus.ts';
import { Plan } from './plan.tsx';

const MAX_BYTES = 1_000_000;
const CONFLICTS: readonly [rule: OnConflict, text: string][] = [
  ['skip', 'Leave the server as it is'],
  ['update', 'Make the server what the file says'],
  ['fail', 'Add nothing at all'],
];

export function ImportServers() {
  const cache = useQueryClient();
  const [text, setText] = useState('');
  const [rule, setRule] = useState<OnConflict>('skip');
  const [plan, setPlan] = useState<Import>();
  const [isBusy, setBusy] = useState(false);
  const [thrown, setThrown] = useState<unknown>();
  const place = useHeldFocus<HTMLDivElement>(isBusy);
  /** Nothing can be changed then: what was done would be shown for another text. */
  const isActing = isBusy && plan !== undefined;
  /** Counts the changes: a plan that arrives after another one is dropped. */
  const changes = useRef(0);

  // A plan belongs to one text and one rule.
  function change(next: string, nextRule = rule): void {
    changes.current += 1;
    setText(next);
    setRule(nextRule);
    setPlan(undefined);
    setThrown(undefined);
  }
  async function take(file: File | undefined): Promise<void> {
    if (!file || isActing) return;
    if (file.size <= MAX_BYTES) return change(await file.text());
    setThrown(new Error(`${file.name} is larger than a megabyte, too large for an mcp.json`));
  }
  async function ask(isPlan: boolean): Promise<void> {
    setBusy(true);
    setThrown(undefined);
    const asked = changes.current;
    const isLate = () => isPlan && changes.current !== asked;
    try {
      const found = await importServers(text, rule, isPlan);
      if (!isLate()) setPlan(found);
      if (!isPlan) void cache.invalidateQueries({ queryKey: ['servers'] });
    } catch (problem) {
      if (!isLate()) setThrown(problem);
    } finally {
      setBusy(false);
    }
  }
  // Accept a drop anywhere: otherwise the browser would open the file instead of this page.
  useEffect(() => {
    const allow = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      void take(event.dataTransfer?.files[0]).catch(setThrown);
    };
    addEventListener('dragover', allow);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', allow);
      removeEventListener('drop', drop);
    };
  });
  const isDone = plan?.dry_run === false;
  return (
    <div ref={place}>
      <Heading back={['/servers', 'All servers']}>Add servers from a file</Heading>
      <p>The mcp.json of a client as it is, with comments too, or an export of a gateway.</p>
      <form
        class="server-form"
        autocomplete="off"
        onSubmit={event => {
          event.preventDefault();
          void ask(true);
        }}
      >
        <div inert={isActing}>
          <label for="import-file">File, chosen or dropped here</label>
          <input
            id="import-file"
            type="file"
            accept=".json,.jsonc,application/json"
            onChange={({ currentTarget }) => void take(currentTarget.files?.[0]).catch(setThrown)}
          />
          <label for="import-text">Or its text</label>
          <textarea
            id="import-text"
            class="code"
            rows={10}
            required
            spellcheck={false}
            value={text}
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
          <label for="import-rule">Where a server has the name already</label>
          <select
            id="import-rule"
            value={rule}
            onChange={({ currentTarget }) => change(text, currentTarget.value as OnConflict)}
          >
            {CONFLICTS.map(([each, words]) => (
              <option key={each} value={each}>
                {words}
              </option>
            ))}
          </select>
        </div>
        {thrown === undefined ? null : <Problem thrown={thrown} />}
        <p class="actions">
          <button type="submit" class={plan ? 'quiet' : ''} disabled={isBusy || isDone}>
            Show what would be done
          </button>
          <Link class="button quiet" href="/servers">
            {isDone ? 'Done' : 'Cancel'}
          </Link>
        </p>
      </form>
      {plan ? <Plan plan={plan} isBusy={isBusy} onGo={() => void ask(false)} /> : null}
    </div>
  );
}
