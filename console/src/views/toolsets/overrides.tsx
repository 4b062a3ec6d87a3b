/** Other names and descriptions of tools, only at the toolset's endpoint. */
import { useRef, useState } from 'preact/hooks';
import { findTool } from '../../api/tools.ts';
import { Field } from '../../parts/field.tsx';
import { Foreign, toShown } from '../../parts/foreign.tsx';
import { Suggest } from '../../parts/suggest.tsx';
import { useAct } from '../../parts/use-act.ts';
import type { Override } from './form-values.ts';
import { useFocus } from '../../parts/use-focus.ts';

const toName = ({ server, tool }: Pick<Override, 'server' | 'tool'>) => `${server}.${tool}`;

interface OverridesProps {
  overrides: readonly Override[];
  /** Picked tools, as suggestions. */
  picked: readonly string[];
  /** The API's error for an override or one of its fields. */
  wrongOf: (path: string) => string | undefined;
  onOverrides: (overrides: readonly Override[]) => void;
}

export function Overrides({ overrides, picked, wrongOf, onOverrides }: OverridesProps) {
  const [typed, setTyped] = useState('');
  const { thrown, run } = useAct();
  /** The last added override; its name field takes the focus. */
  const [added, setAdded] = useState<string>();
  const add = useRef<HTMLButtonElement>(null);
  // Overrides may change while a tool is looked up.
  const now = useRef(overrides);
  now.current = overrides;
  async function put(): Promise<void> {
    const asked = typed;
    const found = await findTool(asked.trim());
    if (!found) throw new Error('There is no such tool: it is written as server.tool');
    const isThere = now.current.some(each => toName(each) === toName(found));
    if (!isThere) onOverrides([...now.current, { ...found, name: '', description: '' }]);
    setAdded(toName(found));
    // Another one may be typed by now.
    setTyped(text => (text === asked ? '' : text));
  }
  return (
    <fieldset>
      <legend>Other names and descriptions</legend>
      {overrides.map((override, at) => (
        <OverrideRow
          key={toName(override)}
          override={override}
          isNew={toName(override) === added}
          wrong={wrongOf(`overrides.${at}`)}
          onOverride={next => onOverrides(overrides.with(at, next))}
          onRemove={() => {
            onOverrides(overrides.toSpliced(at, 1));
            add.current?.focus();
          }}
        />
      ))}
      <Suggest
        label="Tool to rename"
        value={typed}
        offered={picked.filter(pattern => pattern.includes('.') && !pattern.includes('*'))}
        wrong={thrown instanceof Error ? thrown.message : undefined}
        onValue={setTyped}
      />
      <p>
        <button ref={add} type="button" class="quiet" onClick={() => run(put)}>
          Rename it
        </button>
      </p>
    </fieldset>
  );
}

interface RowProps {
  override: Override;
  isNew: boolean;
  wrong: string | undefined;
  onOverride: (override: Override) => void;
  onRemove: () => void;
}

function OverrideRow({ override, isNew, wrong, onOverride, onRemove }: RowProps) {
  const first = useFocus<HTMLInputElement>(undefined, isNew);
  const text = toName(override);
  return (
    <fieldset class="override">
      <legend>
        <code>
          <Foreign text={text} max={200} />
        </code>
      </legend>
      <Field label="Name in the toolset" wrong={wrong}>
        {about => (
          <input
            {...about}
            ref={first}
            maxLength={64}
            spellcheck={false}
            value={override.name}
            onInput={({ currentTarget }) => onOverride({ ...override, name: currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Description in the toolset">
        {about => (
          <textarea
            {...about}
            rows={2}
            maxLength={4000}
            value={override.description}
            onInput={({ currentTarget }) =>
              onOverride({ ...override, description: currentTarget.value })
            }
          />
        )}
      </Field>
      <p>
        <button type="button" class="quiet" onClick={onRemove}>
          Reset to the server<span class="hidden">: {toShown(text, 100)}</span>
        </button>
      </p>
    </fieldset>
  );
}
