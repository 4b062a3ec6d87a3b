/** A field for several short texts, such as a principal's groups: each can be removed, and new ones are typed. */
import { useId, useRef } from 'preact/hooks';
import { Field } from './field.tsx';
import { Foreign, toShown } from './foreign.tsx';
import { itemsOf, toDraft, type ListDraft } from './list-draft.ts';
import './list-field.css';

interface ListFieldProps {
  label: string;
  draft: ListDraft;
  /** Suggestions while typing; other texts are allowed too. */
  offered?: readonly string[];
  wrong?: string | undefined;
  hint?: string;
  onDraft: (draft: ListDraft) => void;
}

/** Browsers are slow with more options. */
const MAX_OFFERED = 100;

export function ListField(props: ListFieldProps) {
  const { label, draft, offered = [], wrong, hint, onDraft } = props;
  const { items, typed } = draft;
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  function remove(item: string): void {
    onDraft({ items: items.filter(each => each !== item), typed });
    field.current?.focus();
  }
  const fitting = offered.filter(each => !items.includes(each) && each.includes(typed));
  return (
    <div class="list-field">
      <Field label={label} wrong={wrong} {...(hint === undefined ? {} : { hint })}>
        {about => (
          <>
            {items.length === 0 ? null : (
              <ul class="chips" aria-label={label}>
                {items.map(item => (
                  <li key={item}>
                    <Foreign text={item} max={100} />
                    <button
                      type="button"
                      class="quiet"
                      aria-label={`Remove ${toShown(item, 100)}`}
                      onClick={() => remove(item)}
                    >
                      ×
                    </button>
                  </li>
                ))}
              </ul>
            )}
            <input
              {...about}
              ref={field}
              list={list}
              value={typed}
              maxLength={300}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => onDraft({ items, typed: currentTarget.value })}
              onKeyDown={event => {
                if (event.key !== 'Enter' || typed.trim() === '') return;
                event.preventDefault();
                onDraft(toDraft(itemsOf(draft)));
              }}
            />
            <datalist id={list}>
              {fitting.slice(0, MAX_OFFERED).map(each => (
                <option key={each} value={each} label={toShown(each, 100)} />
              ))}
            </datalist>
          </>
        )}
      </Field>
    </div>
  );
}
