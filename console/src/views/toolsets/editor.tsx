/** Creates, edits or deletes a toolset after a preview of which tools it, and which people, gain and lose. */
import { useQueryClient } from '@tanstack/preact-query';
import {
  createToolset,
  deleteToolset,
  keyOf,
  previewToolset,
  readToolset,
  updateToolset,
} from '../../api/toolsets.ts';
import type { Toolset } from '../../generated/types.gen.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Changed, Preview } from '../../parts/preview.tsx';
import { Meanwhile } from '../../parts/use-edit.tsx';
import { usePreviewed } from '../../parts/use-previewed.ts';
import { toToolset, toUpdate, valuesOf, type ToolsetValues } from './form-values.ts';
import { ToolsetForm } from './form.tsx';

interface EditorProps {
  /** Absent: a new toolset is created. */
  toolset?: Toolset;
  /** Called when it is saved; undefined: deleted. */
  onDone: (saved: Toolset | undefined) => void;
}

export function ToolsetEditor({ toolset, onDone }: EditorProps) {
  const cache = useQueryClient();
  function done(saved: Toolset | undefined): void {
    if (saved) cache.setQueryData(keyOf(saved.id), saved);
    onDone(saved);
    for (const part of ['list', 'named']) cache.removeQueries({ queryKey: ['toolsets', part] });
  }
  const edit = usePreviewed({
    record: toolset,
    toValues: valuesOf,
    preview: (values: ToolsetValues | undefined, base) =>
      previewToolset({
        ...(values && { toolset: toToolset(values) }),
        ...(base && { replaces: base.id }),
      }),
    save: async (values, base) => {
      done(
        await (base
          ? updateToolset(base.id, toUpdate(values), base.revision)
          : createToolset(toToolset(values))),
      );
    },
    read: ({ id }) => readToolset(id),
  });
  const { shown, theirs, isBusy, place } = edit;
  const moves = toolset && toolset.name !== edit.values.name.trim();
  return (
    <>
      <ToolsetForm
        values={edit.values}
        onChange={edit.change}
        onSend={() => edit.show()}
        isBusy={isBusy}
        takesInput={!shown}
        thrown={edit.thrown}
        cancel="/toolsets"
        beside={
          <>
            {toolset ? (
              <button type="button" class="quiet" disabled={isBusy} onClick={() => edit.show(true)}>
                Show what deleting it changes
              </button>
            ) : null}
            {theirs ? <Meanwhile noun="toolset" theirs={theirs} /> : null}
          </>
        }
      />
      {shown ? (
        <Preview
          title={shown.isDeletion ? 'What deleting it changes' : 'What saving it changes'}
          found={shown.found}
          nothing="Nobody gains or loses a tool there, of what servers offer now."
          first={
            <>
              <Selected change={shown.found.selection} />
              {moves && !shown.isDeletion ? (
                <p class="notice">Its URL changes. Clients with the current URL lose access.</p>
              ) : null}
            </>
          }
        >
          {shown.isDeletion ? (
            <Confirm
              label="Delete the toolset"
              says="Its URL is gone for good, and tokens that are limited to it alone can use nothing."
              act={() => deleteToolset(toolset?.id ?? '')}
              onDone={() => done(undefined)}
            />
          ) : (
            <button ref={place} type="button" disabled={isBusy} onClick={() => edit.save()}>
              {theirs ? 'Save over it' : 'Save the toolset'}
            </button>
          )}
        </Preview>
      ) : null}
    </>
  );
}

const Selected = ({ change }: { change: Parameters<typeof Changed>[0]['change'] }) => (
  <div class="selected">
    <h3>The toolset itself</h3>
    {change.gained + change.lost === 0 ? (
      <p class="empty">It has the same tools as before.</p>
    ) : (
      <Changed change={change} />
    )}
  </div>
);
